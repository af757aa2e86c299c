// Model-based test: random sequences of calls give the same answers from two stores (memory and SQLite, or memory and PostgreSQL in Vitest's
// project `postgres`) and keep the guarantees that a simple model can state. The wall clock also steps forwards and back, as it does under NTP and on a suspended machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { openTestStore } from './fixtures/postgres.ts';
import type { JobStore } from './job-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { createSqliteStore } from './sqlite-store.ts';

type Model = {
  nowMs: number;
  fingerprints: Map<string, string>;
  /** The newest fence issued per job, and whether it is still held. */
  holders: Map<string, { fence: number; untilMs: number }>;
  values: Map<string, string>;
};
type Real = { readonly memory: JobStore; readonly durable: JobStore };

const server = inject('postgresUrl');
const scope = 's';
const keys = fc.constantFrom('a', 'b', 'c');
const states = ['accepted', 'submitted'];

type Settled = { readonly value: unknown } | { readonly code: unknown };

async function both<T>(real: Real, call: (store: JobStore) => Promise<T>): Promise<Settled> {
  const settle = async (store: JobStore): Promise<Settled> => {
    try {
      return { value: await call(store) };
    } catch (error) {
      return { code: error instanceof Error && 'code' in error ? error.code : error };
    }
  };
  const memory = await settle(real.memory);
  expect(await settle(real.durable)).toEqual(memory);
  return memory;
}

type Command = fc.AsyncCommand<Model, Real>;

function command(label: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => label };
}

const claims = fc.tuple(keys, fc.constantFrom('f1', 'f2')).map(([key, fingerprint]) =>
  command(`claim ${key} ${fingerprint}`, async (model, real) => {
    const { nowMs } = model;
    const answer = await both(real, (store) =>
      store.claim({ scope, key, fingerprint, state: 'accepted', payload: '{}', nowMs }),
    );
    const known = model.fingerprints.get(key);
    const outcome =
      known === undefined ? 'created' : known === fingerprint ? 'existing' : 'conflict';
    expect(answer).toMatchObject({ value: { outcome } });
    model.fingerprints.set(key, known ?? fingerprint);
  }),
);

const exceptions = fc.uniqueArray(keys, { maxLength: 2 });
const leases = fc.tuple(fc.integer({ min: 1, max: 20 }), exceptions).map(([ttlMs, except]) =>
  command(`lease ${ttlMs} except ${except.join()}`, async (model, real) => {
    const { nowMs } = model;
    const answer = await both(real, (store) =>
      store.lease({ workerId: 'w', states, except, ttlMs, nowMs }),
    );
    const lease = 'value' in answer ? answer.value : undefined;
    if (lease === undefined) {
      return;
    }
    const { job, fence } = lease as { job: { key: string }; fence: number };
    // A worker never gets a job that it excludes, even if its clock stepped.
    expect(except).not.toContain(job.key);
    const holder = model.holders.get(job.key);
    expect(fence).toBeGreaterThan(holder?.fence ?? 0);
    expect(holder?.untilMs ?? 0).toBeLessThanOrEqual(nowMs);
    model.holders.set(job.key, { fence, untilMs: nowMs + ttlMs });
  }),
);

// Distance of the writer's fence from the newest one: mostly current, sometimes stale or invented.
const offsets = fc.constantFrom(0, 0, 0, -1, -2, 1);

function fenceOf(model: Model, key: string, offset: number): number {
  return (model.holders.get(key)?.fence ?? 0) + offset;
}

/** The holder of an earlier fence cannot write, for any time of the clock when it lost its lease. */
function expectFenced(model: Model, key: string, offset: number, answer: Settled): void {
  if (offset < 0 && model.holders.has(key)) {
    expect(answer).toEqual({ code: 'stale_fence' });
  }
}

const updates = fc
  .tuple(keys, offsets, fc.constantFrom('submitted', 'done'))
  .map(([key, offset, state]) =>
    command(`update ${key} ${offset} ${state}`, async (model, real) => {
      const fence = fenceOf(model, key, offset);
      const { nowMs } = model;
      const answer = await both(real, (store) =>
        store.update({ scope, key, fence, state, payload: `{"f":${fence}}`, nowMs }),
      );
      expectFenced(model, key, offset, answer);
    }),
  );

const puts = fc.tuple(keys, offsets, fc.constantFrom('m', 'n')).map(([key, offset, name]) =>
  command(`put ${key} ${offset} ${name}`, async (model, real) => {
    const fence = fenceOf(model, key, offset);
    const value = `${fence}@${model.nowMs}`;
    const answer = await both(real, (store) => store.putOnce({ scope, key, fence, name, value }));
    expectFenced(model, key, offset, answer);
    if ('value' in answer) {
      const first = model.values.get(`${key}/${name}`) ?? value;
      expect(answer.value).toBe(first);
      model.values.set(`${key}/${name}`, first);
    }
    const read = await both(real, (store) => store.getValue(scope, key, name));
    expect(read).toEqual({ value: model.values.get(`${key}/${name}`) });
  }),
);

const renewals = fc.tuple(keys, offsets).map(([key, offset]) =>
  command(`renew ${key} ${offset}`, async (model, real) => {
    const fence = fenceOf(model, key, offset);
    const { nowMs } = model;
    const answer = await both(real, (store) =>
      store.renew({ scope, key, fence, ttlMs: 10, nowMs }),
    );
    const holder = model.holders.get(key);
    if (holder !== undefined && 'value' in answer && answer.value === true) {
      expect(holder.fence).toBe(fence);
      model.holders.set(key, { fence, untilMs: nowMs + 10 });
    }
  }),
);

const releases = fc.tuple(keys, offsets).map(([key, offset]) =>
  command(`release ${key} ${offset}`, async (model, real) => {
    const fence = fenceOf(model, key, offset);
    await both(real, (store) => store.release({ scope, key, fence }));
    const holder = model.holders.get(key);
    if (holder?.fence === fence) {
      model.holders.set(key, { fence, untilMs: 0 });
    }
  }),
);

const waits = fc.integer({ min: 1, max: 15 }).map((ms) =>
  command(`wait ${ms}`, async (model) => {
    model.nowMs += ms;
  }),
);

const steps = fc.integer({ min: -40, max: 200 }).map((ms) =>
  command(`step ${ms}`, async (model) => {
    model.nowMs = Math.max(1, model.nowMs + ms);
  }),
);

describe('job stores compared with a model and with each other', () => {
  it('give equal answers, one lease at a time with growing fences, and keep first values', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pool-jobs-'));
    let file = 0;
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.commands([claims, leases, updates, puts, renewals, releases, waits, steps], {
            maxCommands: 40,
            size: 'max',
          }),
          async (commands) => {
            file += 1;
            const real = {
              memory: createMemoryStore(),
              durable:
                server === undefined
                  ? createSqliteStore({ path: join(folder, `${file}.db`) })
                  : await openTestStore(server),
            };
            const model: Model = {
              nowMs: 1,
              fingerprints: new Map(),
              holders: new Map(),
              values: new Map(),
            };
            try {
              await fc.asyncModelRun(() => ({ model, real }), commands);
            } finally {
              await real.durable.close();
            }
          },
        ),
        { numRuns: 60 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
