// The agent tells what becomes of its releases and scheduled payments: signed, once for each state, and without what is confidential.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryStore } from '@pool/idempotency';
import { openReleaseLog } from '@pool/operations';
import { createScheduleStore } from '@pool/pay-run';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  accept,
  change,
  describeTarget,
  scope,
  serializeJob,
  startReceiver,
  verifyEvent,
  writeTargets,
} from '../../../../../packages/webhooks/src/fixtures/webhook-world.ts';
import { startConfiguredWebhooks } from './webhooks.ts';

/** A busy machine is slow. */
function waitFor(check: () => unknown): Promise<unknown> {
  return vi.waitFor(check, { timeout: 30_000 });
}

async function setUp(changes: object = {}) {
  const home = mkdtempSync(join(tmpdir(), 'agent-events-'));
  const receiver = await startReceiver();
  const store = createMemoryStore();
  const target = describeTarget(receiver);
  const webhooks = writeTargets(home, [target]);
  const jobs = { url: `sqlite:${join(home, 'jobs.sqlite')}` };
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()));
    receiver.close();
    rmSync(home, { recursive: true });
  });
  function start() {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const agent = startConfiguredWebhooks({
      config: { webhooks, webhooksRetentionDays: 30, home, jobs, ...changes } as never,
      ...{ store, log: log as never, findScope: () => scope },
    });
    stops.push(async () => await agent?.stop());
    return agent;
  }
  const types = () =>
    receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  return { home, jobs, receiver, store, target, start, types };
}

it('tells the releases of a job from the release log, without totals and names', async () => {
  const { home, jobs, receiver, store, target, start, types } = await setUp({
    releasePolicy: '/etc/disburse/policy.json',
  });
  const agent = start();
  await waitFor(async () => expect(await store.get(':webhook-targets', 'books')).toBeDefined());
  const log = await openReleaseLog({ home, jobs });
  onTestFinished(async () => await log.close());
  const append = (event: 'prepare' | 'deny', by: string) =>
    log.append(
      {
        ...{ event, by, at: new Date().toISOString(), key: 'may-2027', chain: 'anvil' },
        ...{ token: 'USDC', total: '12345', count: 1, policy: 'p' },
      },
      event,
    );
  await append('prepare', 'loopback');
  await accept(store, 'may-2027', Date.now());
  const waiting = serializeJob({ stage: 'awaiting-release' });
  await change(store, 'may-2027', 'submitted', waiting, Date.now());
  agent?.wake();
  await waitFor(() => expect(types()).toContain('release.waiting'));
  await append('deny', 'Ben');
  await change(store, 'may-2027', 'submitted', waiting, Date.now() + 1);
  agent?.wake();
  await waitFor(() => expect(types()).toContain('release.denied'));
  await agent?.stop();
  expect(types().filter((type) => type.startsWith('release.'))).toHaveLength(2);
  for (const received of receiver.received) {
    expect(verifyEvent(target.secrets[0], received)).toBeTruthy();
    expect(received.body).not.toMatch(/Ben|12345|loopback/);
  }
});

it('tells the states of an occurrence, and a restart tells none twice', async () => {
  const { receiver, store, target, start, types } = await setUp();
  const first = start();
  await waitFor(async () => expect(await store.get(':webhook-targets', 'books')).toBeDefined());

  const nowMs = Date.now();
  const schedules = createScheduleStore(store, Date.now);
  const plan = {
    ...{ schedule: 'monthly', definedAtMs: 1, period: '2027-03', date: '2027-03-31', zone: 'UTC' },
    ...{ label: 'salaries-2027-03', roster: '/payroll/Ada.csv', chain: 'anvil', token: 'USDC' },
    ...{ tokenAddress: `0x${'22'.repeat(20)}`, decimals: 6 },
    ...({ format: 'decimal', unregistered: 'fail' } as const),
    ...{ prepareAtMs: nowMs, releaseByMs: nowMs + 10, payAtMs: nowMs + 20, payByMs: nowMs + 30 },
  };
  await schedules.notice(plan);
  const leased = await schedules.lease('monthly 2027-03', 'test', 60_000);
  const cause = { code: 'invalid_roster', message: 'line 6, Ada: 12345', atMs: Date.now() };
  let row = await schedules.decide(leased!, { plan, state: 'due', cause });
  first?.wake();
  await waitFor(() => expect(types()).toEqual(['schedule.not_ready']));

  const prepared = { digest: '0x1', keys: ['k'], atMs: Date.now() };
  row = await schedules.decide(row, { plan, state: 'prepared', prepared });
  const late = { ...cause, code: 'release_expired', atMs: Date.now() };
  await schedules.decide(row, { plan, state: 'skipped', prepared, cause: late });
  await first?.stop();
  const second = start();
  await waitFor(() =>
    expect(types().toSorted()).toEqual([
      ...['schedule.not_ready', 'schedule.prepared', 'schedule.skipped'],
    ]),
  );
  second?.wake();
  await second?.stop();
  expect(receiver.received).toHaveLength(3);
  for (const received of receiver.received) {
    expect(verifyEvent(target.secrets[0], received)).toBeTruthy();
    expect(received.body).not.toMatch(/Ada|12345|payroll|0x/);
  }
  const told = receiver.received.map(({ body }) => JSON.parse(body) as { type: string });
  expect(told.find(({ type }) => type === 'schedule.skipped')).toEqual({
    type: 'schedule.skipped',
    timestamp: expect.stringMatching(/Z$/),
    data: {
      ...{ schedule: 'monthly', period: '2027-03', label: 'salaries-2027-03', state: 'skipped' },
      ...{ errorCode: 'release_expired' },
      releaseBy: new Date(plan.releaseByMs).toISOString(),
      payAt: new Date(plan.payAtMs).toISOString(),
    },
  });
});
