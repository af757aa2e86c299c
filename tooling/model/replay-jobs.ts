/**
 * Replays runs of the model against a job store: each action of an agent is a call, and after each action the store has what the model has.
 *
 * @module
 */
import { expect } from 'vitest';
import type { FencedName, JobName, JobStore } from '../../packages/idempotency/src/job-store.ts';
import type { State, Step } from './quint.ts';

const open = ['accepted', 'submitted'];
const unitMs = 1_000;
/** Milliseconds of the model's lease. */
const leaseMs = 6 * unitMs;

/** What a store may do otherwise than a job store must, to see that a replay finds it. */
export type StoreFault = (store: JobStore) => JobStore;

/**
 * @param scope - in which the store has no jobs yet
 * @throws AssertionError for an answer or a row that differs from the model's, with the actions so far
 */
export async function replayJobs(
  store: JobStore,
  steps: readonly Step[],
  scope = 's',
): Promise<void> {
  const done: string[] = [];
  for (const [key, job] of steps[0]?.before.jobs ?? []) {
    if (job.phase !== 'none') await begin(store, { scope, key }, job);
  }
  for (const step of steps) {
    done.push(`${step.action} ${step.agent} ${step.key}`);
    const answer = await act(store, step, scope);
    if (answer !== undefined) {
      expect({ done, answer }).toEqual({ done, answer: step.answer });
    }
    for (const [key, job] of step.after.jobs) {
      expect({ done, job: await readJob(store, scope, key) }).toEqual({
        done,
        job: expectedJob(job),
      });
    }
  }
}

/** A job that a run starts with. */
async function begin(store: JobStore, name: JobName, { phase, digest }: JobRow): Promise<void> {
  const claimed = { ...name, fingerprint: 'f', state: 'submitted', nowMs: 0 };
  await store.claim({ ...claimed, payload: payloadOf(phase) });
  await store.putOnce({ ...name, fence: 0, name: 'digest', value: String(digest) });
}

/** @returns what the store said, in the model's words; undefined: the action asks no job store */
async function act(store: JobStore, step: Step, scope: string): Promise<string | undefined> {
  const { action, agent, key, drawn, before, after } = step;
  const name = { scope, key, fence: fenceOf(before, agent, key) };
  const nowMs = before.now * unitMs;
  switch (action) {
    case 'claim': {
      const payload = payloadOf('accepted');
      const input = { scope, key, fingerprint: 'f', state: 'accepted', payload, nowMs };
      return (await store.claim(input)).outcome;
    }
    case 'lease': {
      const input = { workerId: agent, states: open, scope, key, ttlMs: leaseMs, nowMs };
      const lease = await store.lease(input);
      return lease === undefined ? 'nothing' : 'leased';
    }
    case 'renew':
      return (await store.renew({ ...name, ttlMs: leaseMs, nowMs })) ? 'renewed' : 'lost';
    case 'handBack':
      await store.release(name);
      return '';
    case 'prove': {
      const value = { ...name, name: 'digest', value: String(drawn) };
      const answers = [
        await answerOf(() => store.putOnce(value)),
        await answerOf(() => write(store, name, 'proved', nowMs)),
      ];
      return [...new Set(answers)].join();
    }
    case 'approve': {
      // It is stored with the job of the turn, whose phase stays.
      const held = { scope, key: before.turnFor, fence: fenceOf(before, agent, before.turnFor) };
      const { phase = '' } = before.jobs.get(before.turnFor) ?? {};
      return await answerOf(() => write(store, held, phase, nowMs));
    }
    case 'release':
      return await answerOf(() => write(store, name, 'released', nowMs));
    case 'finish':
      return await answerOf(() =>
        write(store, name, isPaid(after, key) ? 'done' : 'failed', nowMs),
      );
    default:
      return undefined;
  }
}

function fenceOf({ work }: State, agent: string, key: string): number {
  return work.get(`${agent},${key}`)?.fence ?? 0;
}

function isPaid(state: State, key: string): boolean {
  return (state.final.paid.get(key) ?? 0) > 0;
}

function payloadOf(phase: string): string {
  return JSON.stringify({ phase });
}

async function write(
  store: JobStore,
  name: FencedName,
  phase: string,
  nowMs: number,
): Promise<void> {
  const state = phase === 'done' || phase === 'failed' ? phase : 'submitted';
  await store.update({ ...name, state, payload: payloadOf(phase), nowMs });
}

async function answerOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return 'written';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

type JobRow = { readonly phase: string; readonly fence: number; readonly digest: number };

function expectedJob({ phase, fence, digest }: JobRow): JobRow | undefined {
  return phase === 'none' ? undefined : { phase, fence, digest };
}

async function readJob(store: JobStore, scope: string, key: string): Promise<JobRow | undefined> {
  const job = await store.get(scope, key);
  if (job === undefined) return undefined;
  const { phase } = JSON.parse(job.payload) as { phase: string };
  const digest = Number((await store.getValue(scope, key, 'digest')) ?? 0);
  return { phase, fence: job.fence, digest };
}

/** Changes one method of a store. */
function change<Name extends keyof JobStore>(
  name: Name,
  make: (store: JobStore) => JobStore[Name],
): StoreFault {
  return (store) => {
    const made = make(store);
    return { ...store, [name]: made };
  };
}

/** Each is found by a replay. */
export const storeFaults: Readonly<Record<string, StoreFault>> = {
  'a fence that is not checked': change('update', (store) => async (input) => {
    const job = await store.get(input.scope, input.key);
    return await store.update({ ...input, fence: job?.fence ?? input.fence });
  }),
  'a fence that is not checked for a value': change('putOnce', (store) => async (input) => {
    const job = await store.get(input.scope, input.key);
    return await store.putOnce({ ...input, fence: job?.fence ?? input.fence });
  }),
  'a lease that is given twice': change(
    'lease',
    (store) => (input) => store.lease({ ...input, nowMs: input.nowMs + leaseMs }),
  ),
  'a lease that ends by the clock of an agent that is fast': change(
    'lease',
    (store) => (input) =>
      store.lease({ ...input, nowMs: input.nowMs + (input.workerId === 'b' ? 3 * unitMs : 0) }),
  ),
  'an end that is leased again': change(
    'lease',
    (store) => (input) => store.lease({ ...input, states: [...open, 'done', 'failed'] }),
  ),
  'an end that a claim overwrites': change('claim', (store) => async (input) => {
    const claimed = await store.claim(input);
    const { job } = claimed;
    if (open.includes(job.state)) return claimed;
    await store.update({ ...input, fence: job.fence });
    return claimed;
  }),
  'a second value of one name': change('putOnce', (store) => {
    const newest = new Map<string, string>();
    store.getValue = (scope, key, name) => Promise.resolve(newest.get(`${scope} ${key} ${name}`));
    return async (input) => {
      await store.putOnce(input);
      newest.set(`${input.scope} ${input.key} ${input.name}`, input.value);
      return input.value;
    };
  }),
  'a renewal of a lease that was lost': change('renew', () => () => Promise.resolve(true)),
  'a lease that is handed back and keeps its fence': change('release', (store) => async (input) => {
    await store.renew({ ...input, ttlMs: 0, nowMs: 0 });
  }),
};
