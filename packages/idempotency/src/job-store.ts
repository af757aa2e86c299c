/**
 * Durable jobs behind request keys: the interface every store implements, and its words.
 *
 * - **scope, key**: who asked, and under which Idempotency-Key. Together they name one job for ever.
 * - **fingerprint**: digest of the request. The same key with another fingerprint is a conflict.
 * - **lease**: one worker's exclusive, expiring right to work on a job.
 * - **fence**: a number that grows with every lease and release. A write carries the fence its worker was
 *   given; a worker that was paused past its lease finds it stale and cannot overwrite its successor.
 * - **value**: a named text beside the job, written once (a manifest per attempt, an intent, a wish of somebody else).
 *
 * Architecture §3, §6. Both stores pass the same contract tests.
 *
 * @module
 */

/** One job. `payload` and values are confidential: they may hold recipients and amounts. */
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

/** `conflict`: the key exists with another fingerprint; nothing was changed. */
export type ClaimOutcome = {
  readonly outcome: 'created' | 'existing' | 'conflict';
  readonly job: StoredJob;
};

export type JobName = { readonly scope: string; readonly key: string };

/** A job's name with the fence its writer holds. */
export type FencedName = JobName & { readonly fence: number };

export type ClaimInput = JobName & {
  readonly fingerprint: string;
  readonly state: string;
  readonly payload: string;
  readonly nowMs: number;
};

export type LeaseInput = {
  /** Names the worker in the store, for operators. */
  readonly workerId: string;
  /** Only jobs in one of these states are handed out. */
  readonly states: readonly string[];
  /** Only jobs of this scope. Default: of any. */
  readonly scope?: string | undefined;
  /** Only jobs of this key. Default: of any. */
  readonly key?: string | undefined;
  /**
   * Keys that are not handed out: what this worker is busy with. A step of the wall clock makes its own leases look
   * expired too.
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
  /** Values to delete. */
  readonly names: readonly string[];
  /** What stays of the payload. */
  readonly payload: string;
};

export type ErasableInput = {
  readonly states: readonly string[];
  /** Only jobs last updated before this time. */
  readonly updatedBeforeMs: number;
  /** How many of them to pass over, counted from the least recently updated. Default: 0. */
  readonly skip?: number;
  readonly limit: number;
};

/**
 * A store of jobs. Every method is atomic and, in a durable store, on disk when its promise resolves.
 * Errors are {@link StoreError}s: `stale_fence`, `unknown_job`, `store_busy`, `store_closed`.
 */
export type JobStore = {
  /**
   * How long a call may wait for another process before it fails with `store_busy`, milliseconds. A lease has to be
   * several times as long, else its holder cannot renew it in time.
   */
  readonly longestWaitMs: number;
  /** Creates the job if its (scope, key) was never used; of any number of concurrent callers one creates. */
  claim(input: ClaimInput): Promise<ClaimOutcome>;
  get(scope: string, key: string): Promise<StoredJob | undefined>;
  /** Takes the oldest job in `states` that nobody holds or whose lease ran out, and raises its fence. */
  lease(input: LeaseInput): Promise<JobLease | undefined>;
  /** Extends a lease. False: the job was released or taken over; stop working on it. */
  renew(input: RenewInput): Promise<boolean>;
  /** Gives the job back and makes the fence stale. Does nothing when it already is. */
  release(input: FencedName): Promise<void>;
  /** @throws StoreError `stale_fence` (not retryable), `unknown_job` */
  update(input: UpdateInput): Promise<StoredJob>;
  /**
   * Writes a value unless the name has one, and returns the one stored: the first writer wins.
   * @throws StoreError `stale_fence`, `unknown_job`
   */
  putOnce(input: PutOnceInput): Promise<string>;
  /**
   * {@link JobStore.putOnce} without a lease: what somebody else asks of the job, whoever works on it. Choose a name
   * that no worker writes.
   * @throws StoreError `unknown_job`
   */
  ask(input: AskInput): Promise<string>;
  getValue(scope: string, key: string, name: string): Promise<string | undefined>;
  /** Retention: replaces the payload and deletes values. Name, fingerprint and state stay. */
  erase(input: EraseInput): Promise<void>;
  /** Names of all jobs, oldest first. */
  listNames(): Promise<readonly JobName[]>;
  /** Jobs that retention has not erased yet, least recently updated first. */
  listErasable(input: ErasableInput): Promise<readonly StoredJob[]>;
  /** Frees the store's resources. Safe to call twice. */
  close(): Promise<void>;
};
