/**
 * Durable jobs identified by request keys: the interface of every store, and its terms.
 *
 * - **scope, key**: the caller, and its Idempotency-Key. Together they name one job forever.
 * - **fingerprint**: digest of the request. The same key with another fingerprint is a conflict.
 * - **lease**: one worker's exclusive right to work on a job, until it expires.
 * - **fence**: a number that grows with every lease and release. A write carries the fence of its worker's lease. A worker that
 *   was paused beyond its lease has a stale fence and cannot overwrite its successor.
 * - **value**: a named text that is stored with the job and written once (a manifest per attempt, an intent, a cancellation
 *   request).
 *
 * Architecture §3, §6. Both stores pass the same contract tests.
 *
 * @module
 */

/** One job. `payload` and values are confidential: they can contain recipients and amounts. */
export type StoredJob = {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly state: string;
  /** JSON text, confidential. */
  readonly payload: string;
  readonly fence: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** `conflict`: the key exists with another fingerprint. Nothing was changed. */
export type ClaimOutcome = {
  readonly outcome: 'created' | 'existing' | 'conflict';
  readonly job: StoredJob;
};

export type JobName = { readonly scope: string; readonly key: string };

/** The name of a job, with the fence of the worker that writes. */
export type FencedName = JobName & { readonly fence: number };

/** A job that has not ended, for measurements. */
export type UnfinishedJob = {
  /** Of its payload. Undefined: it was not run yet. */
  readonly stage: string | undefined;
  /** When it came one step further, or was created. */
  readonly sinceMs: number;
};

/** A job without its payload. */
export type JobSummary = Omit<StoredJob, 'payload'>;

export type ClaimInput = JobName & {
  readonly fingerprint: string;
  readonly state: string;
  readonly payload: string;
  readonly nowMs: number;
};

export type LeaseInput = {
  /** Name of the worker in the store, for operators. */
  readonly workerId: string;
  /** Only jobs in one of these states are leased. */
  readonly states: readonly string[];
  /** Only jobs of this scope. Default: any scope. */
  readonly scope?: string | undefined;
  /** Only jobs with this key. Default: any key. */
  readonly key?: string | undefined;
  /**
   * Keys that are not leased: the jobs this worker already works on. After a step of the wall clock, the worker's own leases can
   * look expired.
   */
  readonly except?: readonly string[];
  readonly ttlMs: number;
  readonly nowMs: number;
};

export type JobLease = { readonly job: StoredJob; readonly fence: number };

export type RenewInput = FencedName & { readonly ttlMs: number; readonly nowMs: number };

export type UpdateInput = FencedName & {
  readonly state: string;
  readonly payload: string;
  readonly nowMs: number;
};

export type PutOnceInput = FencedName & { readonly name: string; readonly value: string };

export type AskInput = JobName & { readonly name: string; readonly value: string };

export type EraseInput = JobName & {
  /** Names of values to delete. */
  readonly names: readonly string[];
  /** The payload that replaces the erased one. */
  readonly payload: string;
};

export type ErasableInput = {
  readonly states: readonly string[];
  /** Only jobs last updated before this time. */
  readonly updatedBeforeMs: number;
  /** How many of them to skip, counted from the least recently updated. Default: 0. */
  readonly skip?: number;
  readonly limit: number;
};

export type DeleteInput = {
  /** Of the agent's own: it begins with `:`. */
  readonly scope: string;
  readonly states: readonly string[];
  /** Only jobs last updated before this time. */
  readonly updatedBeforeMs: number;
  readonly limit: number;
  readonly nowMs: number;
};

/** What is absent excludes nothing. */
export type NewestInput = {
  readonly states?: readonly string[] | undefined;
  readonly keys?: readonly string[] | undefined;
  /** Texts that the payload has. */
  readonly contains?: readonly string[] | undefined;
  /** Only jobs created at this time or later. */
  readonly createdFromMs?: number | undefined;
  /** Only jobs created before this time. */
  readonly createdBeforeMs?: number | undefined;
  /** Only jobs that come after this one in the list. */
  readonly after?: JobName | undefined;
  readonly limit: number;
};

export type ChangedInput = {
  readonly scope: string;
  /** Only jobs last updated at this time or later. */
  readonly sinceMs: number;
};

/**
 * A store of jobs. Every method is atomic. In a durable store the change is on disk when the promise resolves. Errors are {@link
 * StoreError}s: `stale_fence`, `unknown_job`, `store_busy`, `store_closed`; and `disk_full`.
 */
export type JobStore = {
  /**
   * How long a call may wait for another process before it fails with `store_busy`, in milliseconds. A lease must be several
   * times as long. Otherwise its holder cannot renew it in time.
   */
  readonly longestWaitMs: number;
  /** Creates the job if its (scope, key) was never used. Of any number of concurrent callers, one creates it. */
  claim(input: ClaimInput): Promise<ClaimOutcome>;
  get(scope: string, key: string): Promise<StoredJob | undefined>;
  /** Leases the oldest job in `states` that has no lease or an expired one, and raises its fence. */
  lease(input: LeaseInput): Promise<JobLease | undefined>;
  /** Extends a lease. `false` means that the job was released or taken over: stop working on it. */
  renew(input: RenewInput): Promise<boolean>;
  /** Ends the lease and makes the fence stale. Does nothing if the fence is already stale. */
  release(input: FencedName): Promise<void>;
  /** @throws StoreError `stale_fence` (not retryable), `unknown_job` */
  update(input: UpdateInput): Promise<StoredJob>;
  /**
   * Writes a value unless the name has one. Returns the stored value: the first write wins.
   * @throws StoreError `stale_fence`, `unknown_job`
   */
  putOnce(input: PutOnceInput): Promise<string>;
  /**
   * {@link JobStore.putOnce} without a lease, for requests about a job while a worker works on it. Choose a name that no worker
   * writes.
   * @throws StoreError `unknown_job`
   */
  ask(input: AskInput): Promise<string>;
  getValue(scope: string, key: string, name: string): Promise<string | undefined>;
  /** For retention: replaces the payload and deletes values. Name, fingerprint and state stay. */
  erase(input: EraseInput): Promise<void>;
  /** Names of all jobs of callers, oldest first. What the agent keeps for itself, in a scope that begins with `:`, is not among them. */
  listNames(): Promise<readonly JobName[]>;
  /** Jobs of callers, the newest first. */
  listNewest(input: NewestInput): Promise<readonly StoredJob[]>;
  /** Jobs of one scope, least recently updated first. Reads no payload. */
  listChanged(input: ChangedInput): Promise<readonly JobSummary[]>;
  /** Jobs of callers in these states. Parses no payload. */
  listUnfinished(states: readonly string[]): Promise<readonly UnfinishedJob[]>;
  /**
   * Deletes what the agent keeps for itself, least recently updated first, unless it is leased. The key is free again.
   * @returns how many. @throws Error for a scope of callers, whose keys are used forever
   */
  deleteOwn(input: DeleteInput): Promise<number>;
  /** Jobs of callers that retention did not erase yet, least recently updated first. */
  listErasable(input: ErasableInput): Promise<readonly StoredJob[]>;
  /** Frees the store's resources. May be called twice. */
  close(): Promise<void>;
};
