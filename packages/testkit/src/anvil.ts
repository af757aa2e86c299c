/**
 * A real chain for tests: one anvil process on a free loopback port, ended by its own process id.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { PoolError } from '@pool/core';
import { anvilBinary } from './foundry-binary.ts';

const readyTimeoutMs = 120_000;
const listening = /Listening on (\S+:\d+)/;

export interface AnvilOptions {
  /** Seconds between blocks. Without it a block is mined per transaction, and `finalized` stays at block 0. */
  readonly blockTimeSeconds?: number;
  /** Blocks per epoch; 1 makes `finalized` follow the head by two blocks. */
  readonly slotsInAnEpoch?: number;
  /** Chain id. Default: 31337. */
  readonly chainId?: number;
  /** Time of the first block, Unix seconds. Default: now. */
  readonly timestampSeconds?: number;
  /** Loopback port; 0, the default, chooses a free one. */
  readonly port?: number;
}

export interface Anvil {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly pid: number;
  /** Ends the process and waits until it is gone. Safe to call twice. */
  stop(): Promise<void>;
}

/** The mnemonic of anvil's funded accounts: public, so its keys must never hold value elsewhere. */
export const anvilMnemonic = 'test test test test test test test test test test test junk';

/** Starts anvil and resolves once it listens. Throws `process_not_started` with the tool's last output. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 31337;
  const child = spawn(anvilBinary(), anvilArguments(options, chainId), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const onExit = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', onExit);
  const address = await untilListening(child).catch((cause: unknown) => {
    process.off('exit', onExit);
    child.kill('SIGKILL');
    throw cause;
  });
  return {
    rpcUrl: `http://${address}`,
    chainId,
    pid: child.pid ?? 0,
    stop: async () => {
      process.off('exit', onExit);
      await stopChild(child);
    },
  };
}

/** Between two blocks during a deployment. */
const hurriedBlockMs = 20;

/** Mines blocks without a pause until `work` ends: a deployment waits for dozens of them. No service may read the chain yet. */
export async function mineMeanwhile<T>(
  provider: { send(method: string, params: unknown[]): Promise<unknown> },
  work: () => Promise<T>,
): Promise<T> {
  const mine = () => provider.send('evm_mine', []).catch(() => undefined);
  const mining = setInterval(() => void mine(), hurriedBlockMs);
  try {
    return await work();
  } finally {
    clearInterval(mining);
    // Answered after every earlier request, so none of them is cancelled.
    await mine();
  }
}

function anvilArguments(options: AnvilOptions, chainId: number): string[] {
  const args = ['--host', '127.0.0.1', '--port', String(options.port ?? 0)];
  args.push('--chain-id', String(chainId), '--mnemonic', anvilMnemonic);
  if (options.timestampSeconds !== undefined) {
    args.push('--timestamp', String(options.timestampSeconds));
  }
  if (options.blockTimeSeconds !== undefined) {
    args.push('--block-time', String(options.blockTimeSeconds));
  }
  if (options.slotsInAnEpoch !== undefined) {
    args.push('--slots-in-an-epoch', String(options.slotsInAnEpoch));
  }
  return args;
}

function untilListening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (reason: string): void => {
      clearTimeout(timer);
      reject(
        new PoolError('process_not_started', `anvil ${reason}. Its output: ${output.slice(-500)}`),
      );
    };
    const timer = setTimeout(() => {
      fail(`did not listen within ${String(readyTimeoutMs)} ms`);
    }, readyTimeoutMs);
    child.once('error', (error) => {
      fail(`could not be started: ${error.message}`);
    });
    const exited = (code: number | null): void => {
      fail(`exited with code ${String(code)}`);
    };
    child.once('exit', exited);
    const read = (chunk: Buffer): void => {
      if (output.length > 100_000) return;
      output += chunk.toString('utf8');
      const address = listening.exec(output)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      child.off('exit', exited);
      resolve(address);
    };
    // Both pipes stay read for the life of the process: a full pipe would stop the chain.
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await gone;
  clearTimeout(killer);
}
