// A holder leaves without anybody's leave: platform and gate are stopped, the registry is revoked, and `send --self-submit` withdraws with
// the holder's own keys, chain data and kept notes.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  connectEligibilityRegistry,
  connectErc20,
  createPoolReader,
  decodeSpend,
} from '@pool/contracts';
import { Secret, zeroWord } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { type LyingProxy, signalAt, startLyingProxy } from '@pool/testkit';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { deriveRoleKey } from './chain/sandbox-keys.ts';
import { type HolderAgent, startHolderAgent } from './fixtures/holder-agent.ts';
import { knownKeys, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { agentScript } from './processes/agent-process.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

describe('a withdrawal without platform and gate', () => {
  let stack: TestStack;
  let provider: JsonRpcProvider;
  let agent: HolderAgent;
  let sendKey: string;
  let proxy: LyingProxy;
  const gasKey = Wallet.createRandom();
  const vault = Wallet.createRandom().address;
  beforeAll(async () => {
    const progress = createProgress({ stream: process.stdout, plainLines: false });
    await ensureProvingKey('spend-2x4', progress);
    stack = await startTestStack({ holderCount: 2 });
    provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
    await provider.send('anvil_setBalance', [gasKey.address, `0x${(10n ** 18n).toString(16)}`]);
    const session = await openSession(new Secret(holder(0).privateKey), stack);
    sendKey = (await session.mintKey('holder.send', 'test')).apiKey.reveal();
    proxy = await startLyingProxy(stack.platformUrl);
    agent = await startHolderAgent(stack, holder(0), 'holder', {
      DISBURSE_PLATFORM_URL: `${proxy.url}/agent-edge`,
      DISBURSE_SEND_TOKEN: sendKey,
      DISBURSE_SEND_DESTINATIONS: `vault=${vault}`,
      DISBURSE_LOG_LEVEL: 'info',
    });
    await stack.client.disburse('pay', stack.createRequest({ 0: 30n, 1: 5n }));
    expect(await stack.client.waitForJob('pay')).toMatchObject({ result: { status: 'completed' } });
    await stack.client.disburse('pay-2', stack.createRequest({ 1: 3n }));
    expect(await stack.client.waitForJob('pay-2')).toMatchObject({
      result: { status: 'completed' },
    });
    await stack.client.disburse('pay-3', stack.createRequest({ 1: 20n }));
    expect(await stack.client.waitForJob('pay-3')).toMatchObject({
      result: { status: 'completed' },
    });
    const balance = await fetch(`${agent.url}/api/balance?token=USDC`, {
      headers: { authorization: `Bearer ${agent.readKey}` },
    });
    expect(await balance.json()).toMatchObject({ total: '30' });
  });
  afterAll(async () => {
    provider.destroy();
    await proxy.stop();
    await stack.end();
  });

  const holder = (index: number) => stack.holders[index]!;
  const token = () => stack.place.tokens['USDC']?.address ?? '';
  const balanceOf = (address: string) => connectErc20(token(), provider).balanceOf(address);

  /**
   * @param endAt - text on standard error at which the process is killed
   * @param pause - stops the process at a text on standard error, and lets it go on afterwards
   */
  function run(
    args: readonly string[],
    home = agent.home,
    env: Readonly<Record<string, string>> = {},
    endAt?: string,
    pause?: {
      readonly at: string;
      readonly onReached: () => void;
      readonly until: Promise<unknown>;
    },
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }> {
    const flags = [
      '--conditions=@pool/source',
      ...(endAt === undefined ? [] : signalAt(endAt, 'SIGKILL')),
      ...(pause === undefined ? [] : signalAt(pause.at, 'SIGSTOP')),
    ];
    const child = spawn(
      process.execPath,
      [...flags, agentScript, 'send', '--self-submit', ...args],
      {
        env: {
          ...process.env,
          ...knownKeys,
          DISBURSE_HOME: home,
          DISBURSE_GAS_PRIVATE_KEY: gasKey.privateKey,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let [stdout, stderr] = ['', ''];
    let isPaused = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (pause !== undefined && !isPaused && stderr.includes(pause.at)) {
        isPaused = true;
        void pause.until.then(() => child.kill('SIGCONT'));
        pause.onReached();
      }
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ stdout, stderr, code }));
    });
  }

  it('submits the authorisation that a platform refuses, and both callers read one receipt', async () => {
    proxy.setLies([{ method: 'POST', path: /^\/agent-edge\/spends/, request: () => ({}) }]);
    const asked = fetch(`${agent.url}/api/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${sendKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'refused',
      },
      body: JSON.stringify({ token: 'USDC', amount: '7', to: 'vault' }),
    });
    await waitFor(() => stack.readLogs().includes('the spend was refused; it can still land'));
    const { stdout, stderr, code } = await run([]);
    expect(stderr).toContain('continuing the withdrawal of 0.000007 USDC');
    expect([code, await balanceOf(vault)]).toEqual([0, 7n]);
    const receipt = JSON.parse(stdout) as { txHash: string };
    expect(receipt).toMatchObject({ operation: 'send', status: 'success', changeAmount: '23' });
    const answer = await asked;
    expect([answer.status, await answer.json()]).toEqual([200, receipt]);
    await expectGasInHistory(receipt.txHash);
    expect(proxy.applied[0]).toBeGreaterThan(0);
  });

  it('needs no platform, gate, agent or registry from now on [command.self-submit]', async () => {
    await exportNotes(1);
    await agent.process.stop();
    await stack.platform.process.stop();
    await stack.gate.process.stop();
    await stack.agent.process.stop();
    await revokeRegistry();
    await expect(fetch(stack.platformUrl)).rejects.toThrow();
    await expect(fetch(stack.gateUrl)).rejects.toThrow();
  });

  it('shows cost, cap and what becomes public, and continues after SIGKILL with the same transaction [command.self-submit]', async () => {
    const args = ['--amount', '12', '--to', 'vault'];
    const killed = await run(args, agent.home, {}, 'sent 0x');
    expect(killed.code).toBeNull();
    expect(killed.stderr).toMatch(/gas: about [0-9.]+ at the fees of now, at most 0\.05/);
    expect(killed.stderr).toContain(`beside them ${gasKey.address}, which pays the gas`);
    const { stdout, code } = await run([]);
    expect(code).toBe(0);
    const { txHash } = JSON.parse(stdout) as { txHash: string };
    expect(killed.stderr).toContain(txHash);
    expect(await balanceOf(vault)).toBe(19n);
    expect(await provider.getTransactionCount(gasKey.address)).toBe(2);
    await expectNoTraceOf(txHash);
  });

  it('finds its change on the chain and withdraws it to the holder’s own wallet', async () => {
    const { stdout, code } = await run(['--amount', '11']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ changeAmount: '0' });
    expect(await balanceOf(holder(0).address)).toBe(11n);
  });

  it('works on a new machine from keys, chains.json and a file of kept notes', async () => {
    const { privateKey, address } = holder(1);
    const env = {
      DISBURSE_HOLDER_PRIVATE_KEY: privateKey,
      DISBURSE_SEND_DESTINATIONS: `vault=${vault}`,
    };
    const home = createHome('new-machine');
    const lost = await run(['--amount', '5'], home, env);
    expect([lost.code, lost.stderr]).toEqual([6, expect.stringContaining('insufficient_funds')]);
    const linked = { ...env, DISBURSE_GAS_PRIVATE_KEY: privateKey };
    const refused = await run(['--amount', '5', '--to', 'vault'], home, linked);
    expect(refused.stderr).toContain('gas_key_refused');
    const notes = ['--notes', join(stack.directory, 'notes.json')];
    const dry = await run(['--amount', '5', '--dry-run', ...notes], home, env);
    expect(JSON.parse(dry.stdout)).toMatchObject({ status: 'dry-run' });
    const toNobody = await run(
      ['--amount', '5', '--to', 'vault', '--dry-run', ...notes],
      home,
      env,
    );
    expect(toNobody.stderr).toContain(`notice: ${vault} has no native coin on ${stack.chain}`);
    const { code } = await run(['--amount', '5', ...notes], home, env);
    expect([code, await balanceOf(address)]).toEqual([0, 5n]);
    const again = await run([], home, env);
    expect(again.stderr).toContain('invalid_request');
  });

  it('begins one of two equal withdrawals that are run at the same time, though the notes are enough for both', async () => {
    const { privateKey, address } = holder(1);
    const env = { DISBURSE_HOLDER_PRIVATE_KEY: privateKey };
    const home = join(stack.directory, 'new-machine');
    const before = await balanceOf(address);
    const [hasLooked, hasSent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // It has found no equal withdrawal, and goes on when the other one is sent and not final.
    const late = run(['--amount', '2'], home, env, undefined, {
      at: 'gas: about',
      onReached: hasLooked.resolve,
      until: hasSent.promise,
    });
    await hasLooked.promise;
    const first = run(['--amount', '2'], home, env, undefined, {
      at: 'sent 0x',
      onReached: hasSent.resolve,
      until: late,
    });
    const refused = await late;
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /equal_withdrawal: an equal withdrawal of 0\.000002 USDC .* is not decided/,
      ),
    ]);
    const { code, stdout } = await first;
    expect([code, await balanceOf(address)]).toEqual([0, before + 2n]);
    const { txHash } = JSON.parse(stdout) as { txHash: string };

    const repeated = await run(['--amount', '0.000002USDC', '--yes'], home, env);
    expect([repeated.code, repeated.stderr]).toEqual([
      2,
      expect.stringContaining(`was paid by transaction ${txHash}`),
    ]);
    expect(await balanceOf(address)).toBe(before + 2n);
    const again = await run(['--amount', '2', '--again'], home, env);
    expect([again.code, await balanceOf(address)]).toEqual([0, before + 4n]);
  });

  it('spends notes of an earlier P, pays the change to the present one, and spends that too', async () => {
    const { privateKey, address } = holder(1);
    const env = {
      DISBURSE_HOLDER_PRIVATE_KEY: privateKey,
      DISBURSE_HOLDER_VIEWING_KEY: `0x${'00'.repeat(31)}2a`,
      DISBURSE_HOLDER_EARLIER_VIEWING_KEYS: 'derived',
    };
    const home = join(stack.directory, 'new-machine');
    const before = await balanceOf(address);
    // Notes of 18 and 1 are left, both of the earlier P.
    const first = await run(['--amount', '4'], home, env);
    expect([first.code, JSON.parse(first.stdout)]).toMatchObject([0, { changeAmount: '14' }]);
    const second = await run(['--amount', '13'], home, env);
    expect([second.code, await balanceOf(address)]).toEqual([0, before + 17n]);
    expect(JSON.parse(second.stdout)).toMatchObject({ changeAmount: '1' });
  });

  it('does not pay again with --amount and --yes what a killed command has paid [command.self-submit]', async () => {
    const { privateKey, address } = holder(1);
    const env = {
      DISBURSE_HOLDER_PRIVATE_KEY: privateKey,
      DISBURSE_HOLDER_VIEWING_KEY: `0x${'00'.repeat(31)}2a`,
    };
    const home = join(stack.directory, 'new-machine');
    const before = await balanceOf(address);
    const killed = await run(['--amount', '1'], home, env, 'sent 0x');
    expect(killed.code).toBeNull();
    const [, txHash = ''] = /sent (0x[0-9a-f]{64})/.exec(killed.stderr) ?? [];
    await provider.waitForTransaction(txHash, 20);
    const repeated = await run(['--amount', '0.000001USDC', '--yes'], home, env);
    expect(repeated.stderr).toContain(`it was paid by transaction ${txHash}`);
    expect(repeated.stderr).toContain('equal_withdrawal');
    expect([repeated.code, repeated.stdout, await balanceOf(address)]).toEqual([
      ...[2, ''],
      before + 1n,
    ]);
  });

  /** The history has what the gas key paid, and the fee of the token is none. */
  async function expectGasInHistory(txHash: string): Promise<void> {
    const response = await fetch(`${agent.url}/api/history?token=USDC`, {
      headers: { authorization: `Bearer ${agent.readKey}` },
    });
    const { entries } = (await response.json()) as { entries: readonly object[] };
    const mined = await provider.getTransactionReceipt(txHash);
    expect(entries.at(-1)).toMatchObject({
      ...{ kind: 'send', amount: '7', txHash, fee: '0' },
      gasWei: `${mined?.fee}`,
    });
  }

  /** A directory of an agent that never ran. */
  function createHome(name: string): string {
    const home = join(stack.directory, name);
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, 'chains.json'), JSON.stringify(stack.chains), { mode: 0o600 });
    return home;
  }

  /** What the holder kept while the platform answered. @returns the path */
  async function exportNotes(index: number): Promise<string> {
    const { privateKey, walletPub, encryptionPublicKey } = holder(index);
    const session = await openSession(new Secret(privateKey), stack);
    const { apiKey } = await session.mintKey('holder.read', 'export');
    const edge = createEdgeClient({ url: `${stack.platformUrl}/agent-edge`, token: apiKey });
    const { notes } = await edge.getNotes({ chain: stack.chain, token: 'USDC' });
    const { chainId, pool } = stack.chains.chains[stack.chain]!;
    const path = join(stack.directory, 'notes.json');
    writeFileSync(
      path,
      JSON.stringify({
        ...{ format: 'pool-notes', version: 1, chainId, pool, walletPub, encryptionPublicKey },
        notes: notes.map(({ batchIndex, slot, commitment, sealed, txHash }) => ({
          ...{ token: token(), leafIndex: batchIndex, slot, commitment, sealed, txHash },
        })),
      }),
    );
    return path;
  }

  async function revokeRegistry(): Promise<void> {
    const publisher = new Wallet(deriveRoleKey('publisher').reveal(), provider);
    const registry = connectEligibilityRegistry(stack.deployed.contracts.registry, publisher);
    await (await registry.revoke()).wait();
  }

  /** Every public value of the transaction and its events, without W, its address, P and the amounts of notes. */
  async function expectNoTraceOf(txHash: string): Promise<void> {
    const { address, walletPub, encryptionPublicKey } = holder(0);
    const transaction = await provider.getTransaction(txHash);
    const receipt = await provider.getTransactionReceipt(txHash);
    const text = JSON.stringify([transaction, receipt?.logs]).toLowerCase();
    for (const secret of [address, walletPub, encryptionPublicKey]) {
      expect(text).not.toContain(secret.slice(2).toLowerCase());
      expect(text).not.toContain(secret.slice(4).toLowerCase());
    }
    expect(decodeSpend(transaction?.data ?? '').operation.eligibilityRoot).toBe(zeroWord);
    const reader = createPoolReader(provider, stack.chains.chains[stack.chain]!);
    const spends = await reader.fetchSpends(0, receipt?.blockNumber ?? 0);
    expect(spends).toHaveLength(2);
    expect(new Set(spends.flatMap(({ nullifiers }) => nullifiers)).size).toBe(4);
  }
});

async function waitFor(isTrue: () => boolean): Promise<void> {
  const giveUpAtMs = Date.now() + 120_000;
  while (!isTrue()) {
    if (Date.now() > giveUpAtMs) {
      throw new Error('it did not happen within two minutes');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
