// The agent tells what becomes of its scheduled payments: signed, once for each state, and without what is confidential.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryStore } from '@pool/idempotency';
import { createScheduleStore } from '@pool/pay-run';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  describeTarget,
  startReceiver,
  verifyEvent,
  writeTargets,
} from '../../../../../packages/webhooks/src/fixtures/webhook-world.ts';
import { startConfiguredWebhooks } from './webhooks.ts';

it('tells the states of an occurrence, and a restart tells none twice', async () => {
  const home = mkdtempSync(join(tmpdir(), 'schedule-events-'));
  const receiver = await startReceiver();
  const store = createMemoryStore();
  const target = describeTarget(receiver);
  const webhooks = writeTargets(home, [target]);
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()));
    receiver.close();
    rmSync(home, { recursive: true });
  });
  function start() {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const agent = startConfiguredWebhooks({
      config: { webhooks, home, jobs: { url: `sqlite:${join(home, 'jobs.sqlite')}` } } as never,
      ...{ store, log: log as never, findScope: () => 'employer-1' },
    });
    stops.push(async () => await agent?.stop());
    return agent;
  }
  const first = start();
  await vi.waitFor(async () => expect(await store.get(':webhook-targets', 'books')).toBeDefined());

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
  const types = () =>
    receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
  first?.wake();
  await vi.waitFor(() => expect(types()).toEqual(['schedule.not_ready']));

  const prepared = { digest: '0x1', keys: ['k'], atMs: Date.now() };
  row = await schedules.decide(row, { plan, state: 'prepared', prepared });
  const late = { ...cause, code: 'release_expired', atMs: Date.now() };
  await schedules.decide(row, { plan, state: 'skipped', prepared, cause: late });
  await first?.stop();
  const second = start();
  await vi.waitFor(() =>
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
