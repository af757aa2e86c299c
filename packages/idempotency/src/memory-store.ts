/**
 * Jobs in the memory of this process. They are lost when it ends. For tests, and for deployments that accept the loss of jobs.
 *
 * @module
 */
import type {
  AskInput,
  ClaimInput,
  ClaimOutcome,
  ErasableInput,
  EraseInput,
  FencedName,
  JobLease,
  JobName,
  JobStore,
  LeaseInput,
  PutOnceInput,
  RenewInput,
  StoredJob,
  UpdateInput,
} from './job-store.ts';
import { closedError, staleFenceError, unknownJobError } from './store-error.ts';

type Entry = {
  job: StoredJob;
  /** Undefined if no worker holds the job. */
  leaseUntilMs: number | undefined;
  erased: boolean;
  readonly values: Map<string, string>;
};

export function createMemoryStore(): JobStore {
  // Maps iterate in insertion order, which orders jobs of the same millisecond.
  const entries = new Map<string, Entry>();
  let closed = false;

  const nameOf = ({ scope, key }: JobName): string => JSON.stringify([scope, key]);

  function find(name: JobName): Entry | undefined {
    if (closed) {
      throw closedError();
    }
    return entries.get(nameOf(name));
  }

  function findKnown(name: JobName): Entry {
    const entry = find(name);
    if (entry === undefined) {
      throw unknownJobError();
    }
    return entry;
  }

  function findFenced(name: FencedName): Entry {
    const entry = findKnown(name);
    if (entry.job.fence !== name.fence) {
      throw staleFenceError();
    }
    return entry;
  }

  function all(): Entry[] {
    if (closed) {
      throw closedError();
    }
    return [...entries.values()];
  }

  return {
    longestWaitMs: 0,

    async claim(input: ClaimInput): Promise<ClaimOutcome> {
      const known = find(input);
      if (known !== undefined) {
        const same = known.job.fingerprint === input.fingerprint;
        return { outcome: same ? 'existing' : 'conflict', job: known.job };
      }
      const { scope, key, fingerprint, state, payload, nowMs } = input;
      const job: StoredJob = {
        scope,
        key,
        fingerprint,
        state,
        payload,
        fence: 0,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      entries.set(nameOf(input), {
        job,
        leaseUntilMs: undefined,
        erased: false,
        values: new Map(),
      });
      return { outcome: 'created', job };
    },

    async get(scope: string, key: string): Promise<StoredJob | undefined> {
      return find({ scope, key })?.job;
    },

    async lease(input: LeaseInput): Promise<JobLease | undefined> {
      const { states, scope, key, except = [], ttlMs, nowMs } = input;
      const free = all()
        .filter(
          ({ job, leaseUntilMs }) =>
            states.includes(job.state) &&
            (scope === undefined || scope === job.scope) &&
            (key === undefined || key === job.key) &&
            !except.includes(job.key) &&
            (leaseUntilMs === undefined || leaseUntilMs <= nowMs),
        )
        .sort((one, other) => one.job.createdAtMs - other.job.createdAtMs)[0];
      if (free === undefined) {
        return undefined;
      }
      free.job = { ...free.job, fence: free.job.fence + 1 };
      free.leaseUntilMs = nowMs + ttlMs;
      return { job: free.job, fence: free.job.fence };
    },

    async renew(input: RenewInput): Promise<boolean> {
      const entry = find(input);
      if (entry?.leaseUntilMs === undefined || entry.job.fence !== input.fence) {
        return false;
      }
      entry.leaseUntilMs = input.nowMs + input.ttlMs;
      return true;
    },

    async release(input: FencedName): Promise<void> {
      const entry = find(input);
      if (entry?.leaseUntilMs === undefined || entry.job.fence !== input.fence) {
        return;
      }
      entry.job = { ...entry.job, fence: entry.job.fence + 1 };
      entry.leaseUntilMs = undefined;
    },

    async update(input: UpdateInput): Promise<StoredJob> {
      const entry = findFenced(input);
      const { state, payload, nowMs } = input;
      entry.job = { ...entry.job, state, payload, updatedAtMs: nowMs };
      return entry.job;
    },

    async putOnce(input: PutOnceInput): Promise<string> {
      return putValue(findFenced(input), input);
    },

    async ask(input: AskInput): Promise<string> {
      return putValue(findKnown(input), input);
    },

    async getValue(scope: string, key: string, name: string): Promise<string | undefined> {
      return find({ scope, key })?.values.get(name);
    },

    async erase(input: EraseInput): Promise<void> {
      const entry = findKnown(input);
      entry.job = { ...entry.job, payload: input.payload };
      entry.erased = true;
      for (const name of input.names) {
        entry.values.delete(name);
      }
    },

    async listNames(): Promise<readonly JobName[]> {
      return all()
        .sort((one, other) => one.job.createdAtMs - other.job.createdAtMs)
        .map(({ job: { scope, key } }) => ({ scope, key }));
    },

    async listErasable({
      states,
      updatedBeforeMs,
      skip = 0,
      limit,
    }: ErasableInput): Promise<readonly StoredJob[]> {
      return all()
        .filter(
          ({ job, erased }) =>
            !erased && states.includes(job.state) && job.updatedAtMs < updatedBeforeMs,
        )
        .map(({ job }) => job)
        .sort((one, other) => one.updatedAtMs - other.updatedAtMs)
        .slice(skip, skip + limit);
    },

    async close(): Promise<void> {
      closed = true;
    },
  };
}

/** Writes the value unless the name has one. Returns the stored value. */
function putValue({ values }: Entry, { name, value }: { name: string; value: string }): string {
  const stored = values.get(name) ?? value;
  values.set(name, stored);
  return stored;
}
