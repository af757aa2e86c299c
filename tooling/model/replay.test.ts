// Fresh runs of the model against the real stores. In Vitest's project `postgres` the stores are on a PostgreSQL server too.
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../packages/database/test/test-database.ts';
import { openTestStore } from '../../packages/idempotency/src/fixtures/postgres.ts';
import type { JobStore } from '../../packages/idempotency/src/job-store.ts';
import { createMemoryStore } from '../../packages/idempotency/src/memory-store.ts';
import { createSqliteStore } from '../../packages/idempotency/src/sqlite-store.ts';
import { type Runs, simulate } from './quint.ts';
import { replayJobs } from './replay-jobs.ts';
import { createSettlements, replayNonces } from './replay-nonces.ts';

/** Another one in each run of the tests. Their titles name it, and `POOL_MODEL_SEED` repeats it. */
const seed = Number(process.env['POOL_MODEL_SEED'] ?? randomInt(1e9));
const server = inject('postgresUrl');

function openSqlite(): JobStore {
  const folder = mkdtempSync(join(tmpdir(), 'pool-model-'));
  const store = createSqliteStore({ path: join(folder, 'jobs.sqlite') });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

const stores: Readonly<Record<string, () => JobStore | Promise<JobStore>>> = {
  memory: createMemoryStore,
  SQLite: openSqlite,
  ...(server === undefined
    ? {}
    : {
        PostgreSQL: async () => {
          const store = await openTestStore(server);
          onTestFinished(() => store.close());
          return store;
        },
      }),
};

describe(`runs of the model, seed ${seed},`, () => {
  let runs: Runs;
  let database: TestDatabase;
  beforeAll(async () => {
    const simulation = await simulate({ samples: 30, steps: 80, traces: 30, seed });
    expect(simulation.broken).toEqual([]);
    ({ runs } = simulation);
    expect(runs).toHaveLength(30);
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  it.each(Object.entries(stores))(
    'have the same jobs and answers in a store: %s',
    async (_name, open) => {
      const store = await open();
      for (const [index, run] of runs.entries()) {
        await replayJobs(store, run, `run ${index}`);
      }
    },
  );

  it('have the same nonces and rows at a relayer', async () => {
    const settlements = await createSettlements();
    for (const run of runs) {
      await database.reset();
      await replayNonces(database.db, settlements, run);
    }
  });
});
