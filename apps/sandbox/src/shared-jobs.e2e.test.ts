// Two agents of one employer with one funder share a job store on a PostgreSQL server, and are killed again and again.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { queryDatabase, readData } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  openPayRunLedger,
  payRunLedgerPath,
} from '../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { createJobStore } from './fixtures/job-store.ts';
import { payThroughOlderCopies } from './fixtures/older-copies.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { runAgentCommand } from './processes/agent-command.ts';
import type { Agent } from './processes/agent-process.ts';

/**
 * Before the first kill: longer than the lease of a job, which is 6 s. Each pause is longer than the one before, so that a proof ends
 * between two kills on a slow machine too.
 */
const firstPauseMs = 7_000;

describe('agents that share a job store', () => {
  let stack: TestStack;
  let shared: Readonly<Record<string, string>>;
  let survivor: Agent;
  let other: Agent;
  const paid: bigint[] = [];

  beforeAll(async () => {
    stack = await startTestStack();
    shared = await createJobStore();
    // A label that this machine paid before it shared its jobs.
    const home = join(stack.directory, 'survivor-home');
    mkdirSync(home, { mode: 0o700 });
    const ledger = openPayRunLedger(payRunLedgerPath(home));
    await ledger.change({ chain: stack.chain, token: 'USDC', payRun: 'october' }, () => ({
      digest: 'of another roster',
      parts: [{ attempt: 1, sent: 'accepted', sinceMs: Date.now() }],
    }));
    await ledger.close();
    survivor = await stack.startAgent({ name: 'survivor', env: shared });
  });
  afterAll(async () => {
    await stack.end();
  });

  it.each(['proving.after-store', 'settling.released'])(
    'one pays the job of another that died at %s for good',
    async (point) => {
      const amount = BigInt(100 + paid.length);
      const victim = await stack.startAgent({
        name: `victim-${point}`,
        env: { ...shared, NODE_ENV: 'test', DISBURSE_FAULT: point },
      });
      // The first to lease it is either of them: the survivor is stopped until the victim is dead.
      await survivor.process.stop();
      await clientOf(victim).disburse(point, stack.createRequest({ 0: amount }));
      expect(await victim.process.exited).toEqual({ code: undefined, signal: 'SIGKILL' });
      survivor = await survivor.restart(shared);
      const job = await clientOf(survivor).waitForJob(point);
      expect(job).toMatchObject({ state: 'done', result: { status: 'completed' } });
      paid.push(amount);
    },
  );

  it('pay every key once while one of them is killed every few seconds', async () => {
    other = await stack.startAgent({ name: 'other', env: shared });
    const agents = [survivor, other];
    const keys = Array.from({ length: 6 }, (_, index) => `run ${index}`);
    async function killOne(kills: number): Promise<void> {
      const at = kills % agents.length;
      await agents[at]!.process.kill();
      agents[at] = await agents[at]!.restart(shared);
    }
    // No payment has ended before the first kill.
    await stack.withoutBlocks(async () => {
      for (const [index, key] of keys.entries()) {
        const amount = BigInt(1_000 + index);
        paid.push(amount);
        const request = stack.createRequest({ 0: amount });
        // Both agents are asked, as by a caller that lost an answer. They agree that it is one request.
        for (const agent of agents) {
          expect((await clientOf(agent).disburse(key, request)).status).toBeLessThan(300);
        }
      }
      await delay(firstPauseMs);
      await killOne(0);
    });
    let isOver = false;
    const chaos = async (): Promise<void> => {
      for (let kills = 1; ; kills += 1) {
        await delay(firstPauseMs * 1.25 ** kills);
        if (isOver) return;
        await killOne(kills);
      }
    };
    const killing = chaos();
    const waits = keys.map((key, index) => clientOf(agents[index % 2]!).waitForJob(key));
    const jobs = await Promise.all(waits).finally(() => {
      isOver = true;
    });
    await killing;
    expect(jobs.map(({ state }) => state)).toEqual(keys.map(() => 'done'));
    [survivor, other] = [agents[0]!, agents[1]!];
  });

  it('continue a pay run of each other, and refuse another roster under its label', async () => {
    const disburse = async ({ environment, home }: Agent, amount: bigint, label = 'november') => {
      const file = join(home, 'roster.csv');
      writeFileSync(file, `address,amount\n${stack.holders[0]!.address},${amount}\n`);
      const args = ['disburse', '--file', file, '--pay-run', label, '--json'];
      return await runAgentCommand({ environment: { ...environment, ...shared } }, args);
    };
    expect((await disburse(survivor, 3_000n)).code).toBe(0);
    paid.push(3_000n);
    const again = await disburse(other, 3_000n);
    expect([again.code, readData(again.stdout)]).toMatchObject([0, { isRepeat: true }]);
    expect((await disburse(other, 3_001n)).code).toBe(2);
    expect((await disburse(other, 3_001n, 'october')).code).toBe(2);
  });

  it('are not ready while the database is away, and say so', async () => {
    const database = new URL(shared['DISBURSE_JOB_STORE'] ?? '').pathname.slice(1);
    const server = inject('postgresUrl') ?? '';
    const ask = async () => {
      const answer = await fetch(`${survivor.url}/api/readyz`);
      return { status: answer.status, report: await answer.json() };
    };
    expect(await ask()).toMatchObject({ report: { checks: { jobStore: { ok: true } } } });
    await queryDatabase(server, `alter database ${database} with allow_connections false`);
    await queryDatabase(
      server,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
    );
    const jobStore = { ok: false, detail: { kind: 'unreachable' } };
    await expect.poll(ask).toMatchObject({
      status: 503,
      report: { ok: false, checks: { jobStore } },
    });
    await queryDatabase(server, `alter database ${database} with allow_connections true`);
    await expect.poll(async () => (await ask()).status).toBe(200);
  });

  it('pay nothing twice when an older copy of the database is restored', async () => {
    await Promise.all([survivor.process.stop(), other.process.stop()]);
    const older = await createJobStore(new URL(shared['DISBURSE_JOB_STORE'] ?? '').pathname);
    const amount = 2_000n;
    const request = stack.createRequest({ 0: amount });
    survivor = await survivor.restart(shared);
    await clientOf(survivor).disburse('after the copy', request);
    const job = await clientOf(survivor).waitForJob('after the copy');
    await survivor.process.stop();
    survivor = await survivor.restart(older);
    expect((await clientOf(survivor).getJob('after the copy')).status).toBe(404);
    await clientOf(survivor).disburse('after the copy', request);
    const again = await clientOf(survivor).waitForJob('after the copy');
    expect(again).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(again.result?.batches[0]?.txHash).toBe(job.result?.batches[0]?.txHash);
    paid.push(amount);
    shared = older;
  });

  it('have paid each amount exactly once', async () => {
    expect(await countFundedBatches(stack.place)).toBe(paid.length);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(paid.reduce((a, b) => a + b, 0n));
    const notes = await readReceivedNotes(stack.place, stack.holders[0]!, 'USDC');
    expect(notes.map(({ amount }) => amount).sort()).toEqual([...paid].sort());
  });

  it('pay nothing twice when the databases of platform and gate are older too', async () => {
    const before = await countFundedBatches(stack.place);
    const through = await payThroughOlderCopies(stack, survivor, shared);
    paid.push(...through.paid);
    expect(await countFundedBatches(stack.place)).toBe(before + through.paid.length);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(paid.reduce((a, b) => a + b, 0n));
  });

  it('refuse an agent with another fingerprint key, which would take their requests for others', async () => {
    const strange = { ...shared, DISBURSE_FINGERPRINT_KEY: `0x${'5'.repeat(64)}` };
    await expect(stack.startAgent({ name: 'strange', env: strange })).rejects.toThrow(
      'DISBURSE_FINGERPRINT_KEY',
    );
  });
});
