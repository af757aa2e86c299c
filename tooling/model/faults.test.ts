// What the model and its replays find: each seeded fault of the protocol, of a job store and of a relayer.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../packages/database/test/test-database.ts';
import { createMemoryStore } from '../../packages/idempotency/src/memory-store.ts';
import { mutants } from './mutants.ts';
import { model, type Runs, simulate } from './quint.ts';
import { replayJobs, storeFaults } from './replay-jobs.ts';
import { createSettlements, relayerFaults, replayNonces } from './replay-nonces.ts';

/** Its runs contain every action, and break every mutant. */
const seed = 5;

async function isFound(replay: Promise<void>): Promise<boolean> {
  return await replay.then(
    () => false,
    () => true,
  );
}

/** A minute of computing, about a file that seldom changes. */
const isFullRun = process.env['POOL_TEST_FULL'] === '1';

describe.skipIf(!isFullRun)('a simulation', { timeout: 240_000 }, () => {
  it.each(mutants)('finds $what', async ({ find, replace, breaks }) => {
    expect(model.split(find)).toHaveLength(2);
    const text = model.replace(find, () => replace);
    const { broken } = await simulate({ text, seed, samples: 400, steps: 90 });
    expect(broken).toContain(breaks);
  });
});

describe('the runs of one seed', { timeout: 240_000 }, () => {
  let runs: Runs;
  let database: TestDatabase;
  beforeAll(async () => {
    ({ runs } = await simulate({ samples: 80, steps: 80, traces: 80, seed }));
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  it('contain every action, and every answer of a store', () => {
    const done = new Set(runs.flat().flatMap(({ action, answer }) => [action, answer]));
    const actions = [...model.matchAll(/^ {2}action (\w+)/gm)].map(([, name = '']) => name);
    const parts = ['initNew', 'initAccepted', 'init', 'write', 'plan', 'step'];
    expect(actions.filter((name) => !done.has(name))).toEqual(parts);
    const answers = [...model.matchAll(/answer' = (.*),/g)].flatMap(([, said = '']) =>
      [...said.matchAll(/"(\w+)"/g)].map(([, answer]) => answer),
    );
    expect(answers.filter((answer) => !done.has(answer ?? ''))).toEqual([]);
  });

  it.each(Object.entries(storeFaults))('find a job store with %s', async (_what, fault) => {
    const found = runs.map((run) => isFound(replayJobs(fault(createMemoryStore()), run)));
    expect(await Promise.all(found)).toContain(true);
  });

  it.each(relayerFaults)('find a relayer $what', async ({ kept, isLeaderAsked = true }) => {
    const { db } = database;
    const settlements = await createSettlements();
    if (kept !== undefined) {
      const { table, column } = kept;
      for (const statement of [
        `create function keep() returns trigger language plpgsql as
          $$ begin new.${column} := old.${column}; return new; end $$`,
        `create trigger keep before update on ${table} for each row execute function keep()`,
      ]) {
        await sql.raw(statement).execute(db);
      }
    }
    let found = false;
    for (const run of runs) {
      if (!found) {
        await database.reset();
        found = await isFound(replayNonces(db, settlements, run, { isLeaderAsked }));
      }
    }
    await sql.raw('drop function if exists keep cascade').execute(db);
    expect(found).toBe(true);
  });
});
