import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryStore } from '@pool/idempotency';
import { textOf } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeTarget,
  type Receiver,
  startReceiver,
  writeTargets,
} from './fixtures/webhook-world.ts';
import { createOutbox } from './outbox.ts';
import { createPinnedFetch } from './pinned-fetch.ts';
import { sendEvent } from './send-event.ts';
import { readTargets } from './targets.ts';
import {
  listDeliveries,
  listWebhooks,
  replayWebhooks,
  rotateWebhook,
  testWebhook,
  type WebhookCommandDeps,
} from './webhook-commands.ts';

let folder: string;
let receiver: Receiver;
let printed: string[];
let deps: WebhookCommandDeps;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pool-webhooks-'));
  receiver = await startReceiver();
  printed = [];
  deps = {
    place: writeTargets(folder, [describeTarget(receiver)]),
    store: createMemoryStore(),
    nowMs: Date.now,
    out: (outcome) => printed.push(textOf(outcome)),
  };
});
afterEach(() => {
  receiver.close();
  rmSync(folder, { recursive: true });
});

const event = {
  id: 'msg_1',
  type: 'job.accepted' as const,
  timestamp: new Date(Date.now() + 60_000).toISOString(),
  data: { key: 'k' },
};

describe('disburse-agent webhooks', () => {
  it('shows a disabled target with its reason, and a test that is answered switches it on', async () => {
    const outbox = createOutbox(deps.store, Date.now);
    await outbox.register('books');
    await outbox.switchTarget('books', '10 attempts failed');
    await listWebhooks(deps, {});
    expect(printed.at(-1)).toMatch(
      /^books {2}http:\/\/127\.0\.0\.1:\d+ {2}all events\n {2}disabled since .*: 10 attempts failed\. /,
    );
    expect(printed.at(-1)).not.toContain('token=t');
    await testWebhook('books', deps);
    expect(printed.at(-1)).toMatch(/^books took msg_[0-9a-f]{32}: HTTP 200; it is active again$/);
    expect(await outbox.readTarget('books')).toEqual({ state: 'active' });
    receiver.answer = () => ({ status: 401 });
    await expect(testWebhook('books', deps)).rejects.toMatchObject({
      code: 'webhook_unreachable',
      message: 'books did not take the test event: HTTP 401',
    });
  });

  it('lists deliveries, and sends again only what is not pending', async () => {
    const outbox = createOutbox(deps.store, Date.now);
    await outbox.register('books');
    await outbox.append(event, readTargets(deps.place));
    await listDeliveries('books', deps, {});
    expect(printed.at(-1)).toMatch(/ msg_1 {2}job\.accepted {2}pending \(0 attempts\)$/);
    const again = replayWebhooks('books', 'msg_1', deps);
    await expect(again).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(replayWebhooks('books', 'msg_2', deps)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(listDeliveries('other', deps, {})).rejects.toMatchObject({ code: 'not_found' });
    const leased = await outbox.lease('books', 'w', 1_000);
    const failed = { event, attempts: 10, last: { atMs: 1, status: 500, reason: 'HTTP 500' } };
    await outbox.settle(leased as never, { state: 'failed', delivery: failed });
    await listDeliveries('books', deps, { json: true });
    expect(JSON.parse(printed.at(-1) ?? '')).toEqual({
      deliveries: [{ ...failed, state: 'failed' }],
    });
    await replayWebhooks('books', undefined, deps);
    expect(printed.at(-1)).toBe('1 event is sent again by the running agent');
    expect(await outbox.count('books')).toEqual({ pending: 1, failed: 0 });
  });

  it('rotates a secret in the file, which stays private', () => {
    const [former] = readTargets(deps.place)[0]?.secrets ?? [];
    rotateWebhook('books', deps, {});
    const [fresh = '', second] = readTargets(deps.place)[0]?.secrets ?? [];
    expect([second, printed.at(-1)?.split('\n')[0]]).toEqual([former, fresh]);
    expect(() => rotateWebhook('books', deps, {})).toThrow(/--finish first/);
    rotateWebhook('books', deps, { finish: true });
    expect(readTargets(deps.place)[0]?.secrets).toEqual([fresh]);
    expect(() => rotateWebhook('books', deps, { finish: true })).toThrow(/nothing to end/);
    expect(statSync(deps.place.path).mode & 0o777).toBe(0o600);
  });
});

describe('the file of targets', () => {
  const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
  const url = 'https://hook.example/';

  it.each([
    [
      'http to another machine',
      [{ id: 'a', secrets, url: 'http://hook.example/' }],
      /must be https/,
    ],
    ['credentials', [{ id: 'a', secrets, url: 'https://u:p@hook.example/' }], /credentials/],
    ['a secret of another form', [{ id: 'a', url, secrets: ['hunter2hunter2'] }], /secrets\[0\]/],
    [
      'an id twice',
      [
        { id: 'a', url, secrets },
        { id: 'a', url, secrets },
      ],
      /two targets/,
    ],
    ['an unknown event', [{ id: 'a', url, secrets, events: ['job.paid'] }], /events/],
    ['an unknown field', [{ id: 'a', url, secrets, secret: 'x' }], /secret/],
  ])('is refused with %s, and no secret is repeated', (_, targets, message) => {
    const place = writeTargets(folder, targets);
    expect(() => readTargets(place)).toThrow(message);
    expect(() => readTargets(place)).not.toThrow(/hunter2|MfKQ9r8/);
  });

  it('is refused when other users can read it, and when it is not JSON', () => {
    chmodSync(deps.place.path, 0o640);
    expect(() => readTargets(deps.place)).toThrow(/chmod 600/);
    chmodSync(deps.place.path, 0o600);
    writeFileSync(deps.place.path, '{');
    expect(() => readTargets(deps.place)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
    expect(readFileSync(deps.place.path, 'utf8')).toBe('{');
  });

  it('names no receiver on this machine, unless that is permitted', () => {
    const place = { ...deps.place, allowInsecureLoopback: false };
    expect(() => readTargets(place)).toThrow(/DISBURSE_WEBHOOKS_LOOPBACK/);
  });
});

it('reports an answer that is too large, and a connection that is refused', async () => {
  const target = { url: receiver.url, secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] };
  const large = async () => new Response('x'.repeat(65 * 1024));
  // The codes are webhook_invalid_response and webhook_unreachable.
  expect(await sendEvent(target, event, { fetch: large, nowMs: 0 })).toMatchObject({
    kind: 'failed',
    reason: 'the webhook answered with more than 65536 bytes',
  });
  receiver.close();
  const fetch = createPinnedFetch({ allowInsecureLoopback: true });
  const closed = { ...target, url: 'http://127.0.0.1:1/' };
  expect(await sendEvent(closed, event, { fetch, nowMs: 0 })).toMatchObject({
    kind: 'failed',
    reason: 'the webhook could not be reached',
  });
});
