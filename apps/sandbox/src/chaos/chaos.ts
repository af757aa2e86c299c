/**
 * Two agents of one employer, three provers, two platforms, a gate and a PostgreSQL server, which are killed and frozen at random while
 * payments are requested. Afterwards everything runs again, and every payment is looked up on chain.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PoolError } from '@pool/core';
import { startPostgres } from '@pool/testkit';
import { clientOf } from '../fixtures/test-stack.ts';
import { ensureProvingKey } from '../processes/artifacts.ts';
import { createProgress } from '../processes/progress.ts';
import { startStack } from '../stack/stack.ts';
import { findViolations } from './invariants.ts';
import { placeFleet, placeJobs } from './places.ts';
import { createVictims, type Victim } from './victims.ts';

export type ChaosOptions = {
  /** The same number gives the same order of faults. What the machine does between them is its own. */
  readonly seed: number;
  readonly seconds: number;
  /** Receives a line for each fault, and for each step. */
  readonly say: (line: string) => void;
};

export type ChaosReport = {
  readonly faults: number;
  /** Idempotency-Keys that were accepted. */
  readonly keys: number;
  readonly paid: number;
  /** Jobs that ended unpaid, with their codes. */
  readonly failed: readonly string[];
  /** What must never be. Empty: nothing was found. */
  readonly violations: readonly string[];
  /** Its logs. Kept if there is a violation. */
  readonly directory: string;
};

/** A payment as it was requested. Its amount occurs once. */
export type Payment = { readonly key: string; readonly token: string; readonly amount: bigint };

/** Payments that may be under way at once: the machine shares its cores with everything that is started again. */
const inFlight = 5;
const healSeconds = 300;

/** @throws PoolError `sandbox_failed` if a job has not ended five minutes after the last fault */
export async function runChaos({ seed, seconds, say }: ChaosOptions): Promise<ChaosReport> {
  const random = createRandom(seed);
  await ensureProvingKey('fund-16', createProgress({ stream: process.stderr, plainLines: false }));
  const directory = mkdtempSync(join(tmpdir(), 'pool-chaos-'));
  // It waits for the disk, as an operator's does.
  const server = await startPostgres({});
  const stack = await startStack({
    ...{ directory, holderCount: 1, blockSeconds: 0.4, onStep: say },
    createDatabase: () => server.createDatabase(),
  });
  let violations: readonly string[] = ['the run did not end'];
  try {
    await stack.agent.process.stop();
    const second = await stack.startReplica('platform-2');
    const fleet = await placeFleet(await server.createDatabase(), directory);
    const env = { ...placeJobs(await server.createDatabase()), ...fleet.agent };
    const [first, other] = [
      await stack.startAgent({ name: 'agent-1', env }),
      await stack.startAgent({ name: 'agent-2', env, platformUrl: second.url }),
    ];
    const { prover } = fleet;
    const agents = [first, other];
    const victims = await createVictims({ stack, second, agents, env, prover, server });
    const payee = stack.holders[0]?.address ?? '';
    let calls = 0;
    const payments: Payment[] = [];
    const accepted = new Set<string>();
    const ended = new Map<string, string>();
    const changed: string[] = [];

    /** What a caller does: sends a key to any agent until one accepts it, and asks any for its outcome. */
    async function callOnce(payment: Payment): Promise<void> {
      calls += 1;
      const client = clientOf(calls % 2 === 0 ? first : other);
      if (!accepted.has(payment.key)) {
        const recipients = [{ recipientAddress: payee, amount: payment.amount.toString() }];
        const { status } = await client.disburse(payment.key, { token: payment.token, recipients });
        if (status === 200 || status === 202) {
          accepted.add(payment.key);
        }
        return;
      }
      const { status, body } = await client.getJob(payment.key);
      if (status === 200 && (body.state === 'done' || body.state === 'failed')) {
        const text = JSON.stringify(body);
        const before = ended.get(payment.key) ?? text;
        ended.set(payment.key, before);
        if (before !== text) {
          changed.push(`job ${payment.key} ended as ${before} and shows ${text}`);
        }
      }
    }
    const call = (payment: Payment): Promise<void> => callOnce(payment).catch(() => undefined);

    let isOver = false;
    async function request(): Promise<void> {
      while (!isOver) {
        const open = payments.filter(({ key }) => !ended.has(key));
        if (open.length < inFlight) {
          const index = payments.length;
          const token = index % 3 === 2 ? 'USDT' : 'USDC';
          payments.push({ key: `chaos ${index}`, token, amount: BigInt(1_000 + index) });
        }
        await Promise.all(payments.map(call));
        await delay(500);
      }
    }
    const requesting = request();
    const faults = await disturb(victims, { seconds, random, say });
    isOver = true;
    await requesting;

    say('everything runs again; waiting for the jobs');
    const giveUpAtMs = performance.now() + healSeconds * 1000;
    while (ended.size < payments.length) {
      await Promise.all(payments.filter(({ key }) => !ended.has(key)).map(call));
      if (performance.now() > giveUpAtMs) {
        const open = payments.filter(({ key }) => !ended.has(key)).map(({ key }) => key);
        throw new PoolError('sandbox_failed', `these jobs did not end: ${open.join(', ')}`);
      }
      await delay(500);
    }
    // An end stays as it is, whichever agent is asked.
    await Promise.all([...payments, ...payments].map(call));
    const found = await findViolations({ stack, server, payments, ended });
    violations = [...changed, ...found];
    const jobs = payments.map(({ key }) => JSON.parse(ended.get(key) ?? '{}') as EndedJob);
    const failed = jobs.flatMap(({ error }) => (error === undefined ? [] : [error.code]));
    const keys = payments.length;
    return { faults, keys, paid: keys - failed.length, failed, violations, directory };
  } finally {
    await stack.stop();
    await server.stop();
    if (violations.length === 0) {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}

export type EndedJob = {
  readonly state: 'done' | 'failed';
  readonly error?: { readonly code: string };
  readonly result?: { readonly batches: readonly { readonly txHash: string }[] };
};

/** Ends and freezes processes at random for a while, several at once. @returns how many times, when all of them run again */
async function disturb(
  victims: readonly Victim[],
  options: Omit<ChaosOptions, 'seed'> & { readonly random: () => number },
): Promise<number> {
  const { seconds, random, say } = options;
  const busy = new Map<Victim, Promise<void>>();
  const startedAtMs = performance.now();
  let faults = 0;
  const start = (victim: Victim, work: Promise<void>): void => {
    busy.set(
      victim,
      work.finally(() => busy.delete(victim)),
    );
  };
  while (performance.now() - startedAtMs < seconds * 1000) {
    await delay(1_000 + 4_000 * random());
    for (const one of victims) {
      if (!busy.has(one) && one.hasEnded()) {
        say(`${one.name} has ended by itself, and is started again`);
        start(one, one.restart());
      }
    }
    const victim = victims[Math.floor(random() * victims.length)];
    const [isFrozen, lengthMs] = [random() < 0.3, 500 + 6_000 * random()];
    if (victim === undefined || busy.has(victim)) {
      continue;
    }
    faults += 1;
    const atSeconds = Math.round((performance.now() - startedAtMs) / 1000);
    const what = isFrozen && victim.freeze !== undefined ? 'frozen' : 'killed';
    say(`${atSeconds} s: ${victim.name} is ${what} for ${(lengthMs / 1000).toFixed(1)} s`);
    const work = async (): Promise<void> => {
      if (what === 'frozen') {
        const thaw = victim.freeze?.();
        await delay(lengthMs);
        thaw?.();
        return;
      }
      await victim.kill();
      await delay(lengthMs);
      await victim.restart();
    };
    start(victim, work());
  }
  while (busy.size > 0 || victims.some((one) => one.hasEnded())) {
    await Promise.all(busy.values());
    for (const one of victims) {
      if (one.hasEnded()) {
        start(one, one.restart());
      }
    }
  }
  return faults;
}

/** 0 … 1, the same numbers for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}
