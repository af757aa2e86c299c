// Agents on one store: on SQLite two processes of a machine, and in Vitest's project `postgres` two machines.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore, type JobStore, openPostgresStore } from '@pool/idempotency';
import { type PostgresSettings, parsePostgresUrl } from '@pool/storage/postgres';
import { createDatabase } from '@pool/testkit';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import {
  accept,
  change,
  completedPhase,
  describeTarget,
  type Receiver,
  realClock,
  serializeJob,
  startAgent,
  startReceiver,
  writeTargets,
} from './fixtures/webhook-world.ts';
import { createOutbox } from './outbox.ts';

let folder: string;
let receiver: Receiver;
let stores: readonly JobStore[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pool-webhooks-'));
  receiver = await startReceiver();
  const server = inject('postgresUrl');
  const url = server === undefined ? undefined : await createDatabase(server);
  const open = (): JobStore | Promise<JobStore> =>
    url === undefined
      ? createSqliteStore({ path: join(folder, 'jobs.sqlite') })
      : openPostgresStore({ settings: parsePostgresUrl(url) as PostgresSettings });
  stores = [await open(), await open()];
});
afterEach(async () => {
  receiver.close();
  await Promise.all(stores.map((store) => store.close()));
  rmSync(folder, { recursive: true });
});

it('delivers each event once for two agents, also what happened when its own agent was killed', async () => {
  const [store, other] = stores as [JobStore, JobStore];
  const place = writeTargets(folder, [describeTarget(receiver)]);
  const killed = startAgent(store, place, realClock, { workerId: 'agent-1', idleMs: 20 });
  const left = startAgent(other, place, realClock, { workerId: 'agent-2', idleMs: 20 });
  const outbox = createOutbox(store, Date.now);
  await expect.poll(async () => (await outbox.readTarget('books')).state).toBe('active');
  const listKeys = (): readonly string[] =>
    receiver.received.map(({ body }) => {
      const { type, data } = JSON.parse(body) as { type: string; data: { key: string } };
      return `${type} ${data.key}`;
    });
  const none = { pending: 0, failed: 0 };
  const keys = ['a', 'b', 'c', 'd'];
  for (const key of keys) {
    await accept(store, key, Date.now());
  }
  const accepted = keys.map((key) => `job.accepted ${key}`);
  await expect.poll(() => listKeys().toSorted()).toEqual(accepted);
  // An agent that ends before it has stored the answer leaves the delivery to the other one, which makes it again.
  await expect.poll(() => outbox.count('books')).toEqual(none);
  await killed.stop();
  await change(store, 'a', 'done', serializeJob({ phase: completedPhase() }), Date.now());
  await expect.poll(() => listKeys().at(-1)).toBe('job.completed a');
  await expect.poll(() => outbox.count('books')).toEqual(none);
  await left.stop();
  expect(listKeys()).toHaveLength(5);
});
