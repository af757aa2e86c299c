// Deliveries to a receiver of its own: what is signed, when it is tried again, and that each event arrives.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryStore, type JobStore } from '@pool/idempotency';
import type { FakeClock } from '@pool/testkit';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  accept,
  change,
  completedPhase,
  createQuickClock,
  describeTarget,
  keepDays,
  type Received,
  type Receiver,
  secretMemo,
  serializeJob,
  startAgent,
  startReceiver,
  writeTargets,
} from './fixtures/webhook-world.ts';
import { createOutbox } from './outbox.ts';
import { computePause, maxAttempts } from './send-event.ts';
import type { TargetPlace } from './targets.ts';

let folder: string;
let receiver: Receiver;
let store: JobStore;
let place: TargetPlace;
let target: ReturnType<typeof describeTarget>;
let clock: FakeClock;
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pool-webhooks-'));
  receiver = await startReceiver();
  store = createMemoryStore();
  clock = createQuickClock();
  target = describeTarget(receiver);
  place = writeTargets(folder, [target]);
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  await store.close();
  receiver.close();
  rmSync(folder, { recursive: true });
});

function start(idleMs?: number) {
  const agent = startAgent(store, place, clock, idleMs === undefined ? {} : { idleMs });
  stops.push(agent.stop);
  return agent;
}

async function isRegistered(): Promise<void> {
  const outbox = createOutbox(store, clock.nowMs);
  await expect.poll(async () => (await outbox.readTarget('books')).state).toBe('active');
}

async function readDelivery() {
  const [delivery] = await createOutbox(store, clock.nowMs).list('books', 1);
  return delivery;
}

function typesOf(received: readonly Received[]): readonly unknown[] {
  return received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
}

async function receive(types: readonly string[]): Promise<void> {
  await expect.poll(() => typesOf(receiver.received).toSorted()).toEqual(types.toSorted());
}

describe('the webhooks of an agent', () => {
  it('tells what happens to a job, signed as the library of the format verifies it', async () => {
    start();
    await isRegistered();
    await accept(store, 'may-2027', clock.nowMs());
    await receive(['job.accepted']);
    const payload = serializeJob({ stage: 'awaiting-approval' });
    await change(store, 'may-2027', 'submitted', payload, clock.nowMs());
    await receive(['job.accepted', 'job.stage_changed']);
    await change(
      ...[store, 'may-2027', 'done', serializeJob({ phase: completedPhase() }), clock.nowMs()],
    );
    await receive(['job.accepted', 'job.completed', 'job.stage_changed']);

    const [, stage, end] = receiver.received;
    for (const { headers, body } of receiver.received) {
      const sentMs = Number(headers['webhook-timestamp']) * 1_000;
      vi.setSystemTime(sentMs);
      expect(new Webhook(target.secrets[0] ?? '').verify(body, headers)).toBeTruthy();
      vi.useRealTimers();
      expect(body).not.toContain(secretMemo);
      expect(body).not.toContain('12345');
      expect(body).not.toContain('0x1111');
    }
    expect(JSON.parse(stage?.body ?? '')).toMatchObject({
      data: { key: 'may-2027', label: 'May 2027', state: 'submitted', stage: 'awaiting-approval' },
    });
    expect(JSON.parse(end?.body ?? '')).toEqual({
      type: 'job.completed',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { key: 'may-2027', label: 'May 2027', state: 'done' },
    });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('names a partial payment, a cancellation and the code of a failure', async () => {
    start();
    await isRegistered();
    const failed = (code: string) =>
      serializeJob({ phase: { kind: 'failed', error: { code, message: 'private' } } as never });
    const ends = [
      ['a', 'done', serializeJob({ phase: completedPhase([{}]) })],
      ['b', 'failed', failed('cancelled')],
      ['c', 'failed', failed('insufficient_balance')],
    ] as const;
    for (const [key, state, payload] of ends) {
      await accept(store, key, clock.nowMs());
      await change(store, key, state, payload, clock.nowMs());
    }
    await receive([
      ...['job.accepted', 'job.accepted', 'job.accepted'],
      ...['job.cancelled', 'job.failed', 'job.partial'],
    ]);
    const bodies = receiver.received.map(({ body }) => body).join('\n');
    expect(bodies).toContain('"errorCode":"insufficient_balance"');
    expect(bodies).not.toContain('private');
  });

  it('sends an event again under its id until it is taken', async () => {
    receiver.answer = (_, count) => ({ status: count < 4 ? 500 : 204 });
    start();
    await isRegistered();
    await accept(store, 'k', clock.nowMs());
    await receive(Array.from({ length: 4 }, () => 'job.accepted'));
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    await expect
      .poll(readDelivery)
      .toMatchObject({ state: 'delivered', attempts: 4, last: { status: 204 } });
  });

  it('disables a target when all attempts at an event have failed, and says why', async () => {
    receiver.answer = () => ({ status: 503 });
    start(3_600_000);
    await isRegistered();
    await accept(store, 'k', clock.nowMs());
    const outbox = createOutbox(store, clock.nowMs);
    await expect
      .poll(() => outbox.readTarget('books'))
      .toMatchObject({
        state: 'disabled',
        reason: expect.stringMatching(
          /^10 attempts at msg_[0-9a-f]{32} failed; the last: HTTP 503$/,
        ),
      });
    expect(receiver.received).toHaveLength(maxAttempts);
    await accept(store, 'later', clock.nowMs());
    await expect.poll(async () => (await outbox.count('books')).pending).toBe(1);
    expect(receiver.received).toHaveLength(maxAttempts);

    receiver.answer = () => ({ status: 200 });
    await outbox.switchTarget('books', undefined);
    const [failed = ''] = await outbox.listFailed('books');
    await outbox.replay('books', failed);
    await receive(Array.from({ length: maxAttempts + 2 }, () => 'job.accepted'));
  });

  it('disables a target at once that answers 410', async () => {
    receiver.answer = () => ({ status: 410 });
    start();
    await isRegistered();
    await accept(store, 'k', clock.nowMs());
    await expect
      .poll(() => createOutbox(store, clock.nowMs).readTarget('books'))
      .toMatchObject({ state: 'disabled', reason: expect.stringContaining('410') });
  });

  it('erases deliveries after some days, says how many were never taken, and tells no event of them again', async () => {
    receiver.answer = ({ body }) => ({ status: body.includes('"bad"') ? 410 : 200 });
    const lines: object[] = [];
    stops.push(startAgent(store, place, clock, { lines }).stop);
    await isRegistered();
    const outbox = createOutbox(store, clock.nowMs);
    const keys = async () =>
      (await outbox.list('books', 9)).map(({ event }) => event.data.key).toSorted();
    const add = async (key: string): Promise<void> => {
      await accept(store, key, clock.nowMs());
      await expect.poll(keys).toContain(key);
    };
    await add('good');
    await receive(['job.accepted']);
    await add('bad');
    await expect.poll(async () => (await outbox.count('books')).failed).toBe(1);
    await add('waits');

    clock.advanceSeconds((keepDays - 2) * 86_400);
    // Two passes at least.
    await add('late');
    await add('later');
    expect(await keys()).toEqual(['bad', 'good', 'late', 'later', 'waits']);
    clock.advanceSeconds(3 * 86_400);
    await expect.poll(keys).toEqual(['late', 'later']);
    await expect.poll(() => lines).toContainEqual({ delivered: 1 });
    await expect.poll(() => lines).toContainEqual({ undelivered: 2 });
    const [erased = ''] = receiver.received.map(({ headers }) => headers['webhook-id']);
    await expect(outbox.replay('books', erased)).rejects.toMatchObject({ code: 'not_found' });

    // The job changes now, and its first event is older than its delivery was.
    await outbox.switchTarget('books', undefined);
    const ended = serializeJob({ phase: completedPhase() });
    await change(store, 'good', 'done', ended, clock.nowMs());
    // Of `good`, of `bad` at its one attempt, and of the two that waited.
    await receive([...Array.from({ length: 4 }, () => 'job.accepted'), 'job.completed']);
  });

  it('follows no redirect', async () => {
    receiver.answer = () => ({ status: 307, location: 'http://127.0.0.1:1/' });
    start();
    await isRegistered();
    await accept(store, 'k', clock.nowMs());
    await expect.poll(async () => (await readDelivery())?.last?.reason).toContain('redirect');
  });

  it('tells nothing that happened before the target was known, and only the types it takes', async () => {
    place = writeTargets(folder, [{ ...target, events: ['job.completed'] }]);
    await accept(store, 'old', clock.nowMs());
    await change(
      ...[store, 'old', 'done', serializeJob({ phase: completedPhase() }), clock.nowMs()],
    );
    clock.advanceSeconds(1);
    start();
    await isRegistered();
    await accept(store, 'new', clock.nowMs());
    await change(
      ...[store, 'new', 'done', serializeJob({ phase: completedPhase() }), clock.nowMs()],
    );
    await receive(['job.completed']);
    expect(receiver.received[0]?.body).toContain('"key":"new"');
  });

  it('signs with both secrets during a rotation', async () => {
    const { createWebhookSecret, rotateSecret } = await import('./targets.ts');
    const former = target.secrets[0] ?? createWebhookSecret();
    const fresh = rotateSecret(place, 'books', false) ?? '';
    start();
    await isRegistered();
    await accept(store, 'k', clock.nowMs());
    await receive(['job.accepted']);
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    vi.setSystemTime(Number(headers['webhook-timestamp']) * 1_000);
    for (const secret of [former, fresh]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
    }
    expect(() => new Webhook(createWebhookSecret()).verify(body, headers as never)).toThrow();
    vi.useRealTimers();
  });
});

it('waits longer after each failure, for three days in all', () => {
  const pauses = Array.from({ length: maxAttempts }, (_, index) => computePause(index + 1, 0));
  expect(pauses.at(-1)).toBeUndefined();
  const waits = pauses.slice(0, -1).map((pause) => pause ?? 0);
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  const days = waits.reduce((sum, pause) => sum + pause, 0) / 86_400_000;
  expect(days).toBeGreaterThan(3);
  expect(computePause(1, 1)).toBe(6_000);
  expect(computePause(1, 0, 60_000)).toBe(60_000);
  expect(computePause(1, 0, 1e12)).toBe(86_400_000);
});
