/**
 * The processes of a chaos run that are ended, frozen and started again.
 *
 * @module
 */
import { join } from 'node:path';
import {
  type ManagedProcess,
  type PostgresServer,
  startNodeProcess,
  waitUntilReady,
} from '@pool/testkit';
import { type Agent, agentScript } from '../processes/agent-process.ts';
import type { Service } from '../stack/service.ts';
import type { Stack } from '../stack/stack.ts';

export type Victim = {
  readonly name: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Until it works. */
  restart(): Promise<void>;
  /** SIGSTOP: its connections stay open, and nobody answers. @returns how to let it go on */
  freeze?(): () => void;
  /** It has ended by itself, as when its database was away at its start. */
  hasEnded(): boolean;
};

type Restartable = { readonly process: ManagedProcess; restart(): Promise<unknown> };

/** As a supervisor does, it starts a process again that ends at its start. */
const attempts = 10;

function createVictim(name: string, first: Restartable, next: (now: unknown) => Restartable) {
  let now = first;
  return {
    name,
    kill: () => now.process.kill(),
    async restart() {
      for (let attempt = 1; ; attempt += 1) {
        try {
          now = next(await now.restart());
          return;
        } catch (error) {
          if (attempt === attempts) {
            throw error;
          }
          await now.process.kill();
        }
      }
    },
    freeze() {
      const { pid } = now.process.identity;
      signal(pid, 'SIGSTOP');
      return () => signal(pid, 'SIGCONT');
    },
    hasEnded: () => now.process.hasExited(),
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

export async function createVictims(world: {
  readonly stack: Stack;
  readonly second: Service;
  readonly agents: readonly Agent[];
  /** Of every agent. */
  readonly env: Readonly<Record<string, string>>;
  readonly prover: Readonly<Record<string, string>>;
  readonly server: PostgresServer;
}): Promise<readonly Victim[]> {
  const { stack, second, agents, env, server } = world;
  const ofService = (name: string, service: Service) => createVictim(name, service, () => service);
  const ofAgent = (agent: Agent, place: number) => {
    const again = (one: Agent): Restartable => ({
      process: one.process,
      restart: () => one.restart(env),
    });
    return createVictim(`agent-${place + 1}`, again(agent), (one) => again(one as Agent));
  };
  const provers = await Promise.all(
    [1, 2, 3].map(async (number) => {
      const name = `prover-${number}`;
      const prover = await startProver(stack, name, world.prover);
      return createVictim(name, prover, (one) => one as Restartable);
    }),
  );
  let isDown = false;
  return [
    ...agents.map(ofAgent),
    ofService('platform', stack.platform),
    ofService('platform-2', second),
    ofService('gate', stack.gate),
    ...provers,
    {
      name: 'the database server',
      async kill() {
        isDown = true;
        await server.kill();
      },
      async restart() {
        await server.start();
        isDown = false;
      },
      hasEnded: () => isDown,
    },
  ];
}

async function startProver(
  stack: Stack,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<Restartable> {
  const logPath = join(stack.directory, 'logs', `${name}.log`);
  const process = startNodeProcess({ name, script: agentScript, args: ['prover'], env, logPath });
  stack.ledger.add(name, process.identity);
  await waitUntilReady(process, async () =>
    process.output().includes('prover takes proofs from') ? true : undefined,
  );
  return { process, restart: () => startProver(stack, name, env) };
}
