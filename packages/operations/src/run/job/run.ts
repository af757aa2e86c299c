/**
 * One run of one job: its record, and what every stage needs: store, announce, retry, wait.
 *
 * @module
 */
import { type EvmAddress, isPoolError, type JobStage, PoolError } from '@pool/core';
import type { Clock, ComputeQueue, KeyLock, Pace } from '@pool/wallet';
import type {
  ChainContext,
  FunderPort,
  GatePort,
  JobJournal,
  PaidKeys,
  PlatformPort,
  ProverPort,
} from '../../ports.ts';
import { type AllowanceHold, createAllowanceHold } from './allowance-hold.ts';
import type { Fingerprinter } from './body-fingerprint.ts';
import type { FaultPoint } from './fault-points.ts';
import { InterruptedRunError } from './interrupted-run.ts';
import { assertTransition, type Phase, phaseOf } from './phase.ts';
import type { Batch } from './plan-batch.ts';
import { type DisbursementRecord, type RecordedVote, serializeRecord } from './record.ts';

/** Something that happened in a run, for logs, terminals and measurements. Never confidential. */
export type RunEvent =
  | { readonly kind: 'stage'; readonly stage: JobStage }
  | { readonly kind: 'progress'; readonly stage: JobStage; readonly fraction: number }
  | {
      readonly kind: 'retry';
      readonly stage: JobStage | undefined;
      readonly code: string;
      /** Code of the underlying error, for the operator. */
      readonly cause?: string;
    }
  /** The settlement of a released batch was refused or reverted, or its key was used elsewhere. */
  | { readonly kind: 'refused'; readonly stage: JobStage | undefined; readonly code: string }
  /** The job ends, and a request of it does not wait for votes any more. */
  | { readonly kind: 'withdrawn'; readonly request: RecordedVote['kind'] }
  /** The job ends, and a request of it may still wait for votes. They have no effect. */
  | {
      readonly kind: 'not-withdrawn';
      readonly request: RecordedVote['kind'];
      readonly code: string;
    }
  | { readonly kind: 'outcome'; readonly state: 'done' | 'failed'; readonly code?: string };

export type DisbursementDeps = {
  readonly clock: Clock;
  /** Undefined: the chain is not routable. */
  readonly findChain: (key: string) => ChainContext | undefined;
  readonly platform: PlatformPort;
  readonly paidKeys: PaidKeys;
  /** For comparing this request with the request of another agent under the same key. */
  readonly fingerprints: Fingerprinter;
  /** Undefined: the deployment has no gate. */
  readonly gate: GatePort | undefined;
  readonly prover: ProverPort;
  /** Undefined: no funder key is configured. */
  readonly funder: FunderPort | undefined;
  /** Shared by all runs of the process: allowances by (chain, token, funder), and the accelerator. */
  readonly locks: KeyLock;
  /** Shared by all runs of the process: one job computes at a time. */
  readonly computeQueue: ComputeQueue;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Window of an authorisation; {@link defaultBatchDeadlineSeconds} in production. */
  readonly batchDeadlineSeconds: number;
  /** How long a signer that needs a vote may take. Part of the deadline of what it signs. */
  readonly voteLimitSeconds: number;
  /** Pause between two readings of chain and platform. */
  readonly pollMs: number;
  /** How long one call may keep failing before an unreleased job fails with its error. */
  readonly patienceMs: number;
  readonly onEvent: (event: RunEvent) => void;
  /** Called at each {@link FaultPoint}. Tests end the run there. */
  readonly onFaultPoint: (point: FaultPoint) => Promise<void>;
};

/** A stage in which the agent works. The other stages name what a job waits for. */
export type WorkStage = Exclude<JobStage, WaitingStage>;
type WaitingStage =
  | 'awaiting-approval'
  | 'awaiting-turn'
  | 'settlement-refused'
  | 'cancelling'
  | 'configuration-changed';

export type RunInput = {
  readonly record: DisbursementRecord;
  readonly journal: JobJournal;
  /** Aborted on shutdown and on a lost lease. */
  readonly signal: AbortSignal;
};

export type Run = {
  readonly deps: DisbursementDeps;
  readonly journal: JobJournal;
  readonly signal: AbortSignal;
  readonly context: ChainContext;
  readonly funder: FunderPort;
  readonly token: EvmAddress;
  /** Sum of the recipients, base units. */
  readonly total: bigint;
  record(): DisbursementRecord;
  /** The phase of the job. */
  phase(): Phase;
  /** The batch, if this run has built it. */
  builtBatch(): Batch | undefined;
  keepBatch(batch: Batch): void;
  /** Stores changes. They are on disk when it resolves. Refuses a change of phase that {@link transitions} does not contain. */
  update(changes: Partial<DisbursementRecord>): Promise<void>;
  finish(state: 'done' | 'failed', changes: Partial<DisbursementRecord>): Promise<void>;
  /** Stores the stage, then works. Its seconds are stored with the next update. */
  within<T>(stage: WorkStage, work: () => Promise<T>): Promise<T>;
  /** Stores and announces what the job waits for. The time still counts for the current work stage. */
  announce(stage: JobStage): Promise<void>;
  /** @throws InterruptedRunError when a test ends the run there */
  passFaultPoint(point: FaultPoint): Promise<void>;
  /** Waits for a lock of the process. @returns how to release it */
  acquire(name: string): Promise<() => void>;
  /** The lock on this chain, token and funder. Only its holder changes the allowance. */
  readonly hold: AllowanceHold;
  /** The lock on the funder's account on this chain, for approval transactions of any token. Acquired under `hold` only. */
  readonly approvalHold: AllowanceHold;
  progress(fraction: number): void;
  /** Tries again while the error is retryable, for `patienceMs`. */
  retry<T>(work: () => Promise<T>): Promise<T>;
  pause(milliseconds: number): Promise<void>;
  /** Awaited between two pieces of computing. */
  readonly pace: Pace;
  /** The later of our clock and the chain's newest block, Unix seconds. */
  now(): Promise<number>;
};

/** What a run needs from a routable chain and a configured funder. */
export type RunBase = {
  readonly context: ChainContext;
  readonly funder: FunderPort;
  readonly token: EvmAddress;
};

export function createRun(input: RunInput, base: RunBase, deps: DisbursementDeps): Run {
  const { journal, signal } = input;
  const { clock } = deps;
  let current = input.record;
  let batch: Batch | undefined;
  let announced: JobStage | undefined;
  let working: { readonly stage: WorkStage; readonly sinceMs: number } | undefined;

  /** Adds the time of the current stage since it was last counted. */
  function countSeconds(): void {
    const nowMs = clock.nowMs();
    if (working !== undefined) {
      const { stage, sinceMs } = working;
      const seconds = (current.stageSeconds[stage] ?? 0) + (nowMs - sinceMs) / 1000;
      current = { ...current, stageSeconds: { ...current.stageSeconds, [stage]: seconds } };
      working = { stage, sinceMs: nowMs };
    }
  }

  /** @throws InterruptedRunError for an impossible change of phase: the stored job then stays unchanged */
  function change(changes: Partial<DisbursementRecord>): DisbursementRecord {
    const changed = { ...current, ...changes };
    try {
      assertTransition(phaseOf(current).kind, phaseOf(changed).kind);
    } catch (cause) {
      throw new InterruptedRunError('the job would contradict itself', { cause });
    }
    return changed;
  }

  async function update(changes: Partial<DisbursementRecord>): Promise<void> {
    countSeconds();
    current = change(changes);
    await guard(() => journal.save('submitted', serializeRecord(current)));
  }

  async function passFaultPoint(point: FaultPoint): Promise<void> {
    try {
      await deps.onFaultPoint(point);
    } catch (cause) {
      throw new InterruptedRunError(`stopped at ${point}`, { cause });
    }
  }

  async function pause(milliseconds: number): Promise<void> {
    try {
      await clock.sleep(milliseconds, signal);
    } catch (cause) {
      throw new InterruptedRunError('shutting down or lease lost', { cause });
    }
  }

  /** A store that does not answer ends the run. The job stays as it is stored. */
  async function guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new InterruptedRunError('the job store did not answer', { cause });
    }
  }

  async function announce(stage: JobStage): Promise<void> {
    if (current.stage !== stage || announced !== stage) {
      if (current.stage !== stage) {
        await update({ stage });
      }
      announced = stage;
      deps.onEvent({ kind: 'stage', stage });
    }
  }

  async function acquire(name: string): Promise<() => void> {
    try {
      return await deps.locks.acquire(name, signal);
    } catch (cause) {
      throw new InterruptedRunError('shutting down or lease lost', { cause });
    }
  }

  return {
    deps,
    journal: {
      save: (state, payload) => guard(() => journal.save(state, payload)),
      putOnce: (name, value) => guard(() => journal.putOnce(name, value)),
      getValue: (name) => guard(() => journal.getValue(name)),
    },
    signal,
    ...base,
    total: current.recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    record: () => current,
    phase: () => phaseOf(current),
    builtBatch: () => batch,
    keepBatch(built) {
      batch = built;
    },
    update,
    passFaultPoint,
    pause,
    pace: deps.computeQueue.createJobPace(),
    acquire,
    hold: createAllowanceHold(
      ['allowance', base.context.key, base.token, base.funder.address].join(' '),
      { acquire, isTaken: deps.locks.isTaken },
    ),
    approvalHold: createAllowanceHold(
      ['approval', base.context.key, base.funder.address].join(' '),
      { acquire, isTaken: deps.locks.isTaken },
    ),
    async finish(state, changes) {
      const { stage: _stage, ...rest } = change(changes);
      current = rest;
      await passFaultPoint('result.before-store');
      await guard(() => journal.save(state, serializeRecord(current)));
      await passFaultPoint('result.after-store');
      const code = current.error?.code;
      deps.onEvent({ kind: 'outcome', state, ...(code === undefined ? {} : { code }) });
    },
    announce,
    async within(stage, work) {
      await announce(stage);
      await passFaultPoint(`${stage}.entered`);
      working = { stage, sinceMs: clock.nowMs() };
      try {
        return await work();
      } finally {
        countSeconds();
        working = undefined;
      }
    },
    progress(fraction) {
      const { stage } = current;
      if (stage !== undefined) {
        deps.onEvent({ kind: 'progress', stage, fraction });
      }
    },
    async retry(work) {
      const giveUpAtMs = clock.nowMs() + deps.patienceMs;
      for (let waitMs = 250; ; waitMs = Math.min(2 * waitMs, 10_000)) {
        try {
          return await work();
        } catch (error) {
          if (!isPoolError(error) || !error.retryable || clock.nowMs() >= giveUpAtMs) {
            throw error;
          }
          deps.onEvent(createRetryEvent(current.stage, error));
        }
        await pause(waitMs);
      }
    },
    async now() {
      const head = await base.context.chain.fetchHeadTimestamp();
      return Math.max(head, Math.floor(clock.nowMs() / 1000));
    },
  };
}

/** Holds codes only, because the text of an unknown error may quote confidential values. */
export function createRetryEvent(stage: JobStage | undefined, error: unknown): RunEvent {
  const cause = error instanceof Error ? codeOf(error.cause) : undefined;
  return {
    kind: 'retry',
    stage,
    code: codeOf(error) ?? 'internal_error',
    ...(cause === undefined ? {} : { cause }),
  };
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Address of the job's token in the agent's own settings, checksummed. */
export function findTokenAddress(context: ChainContext, symbol: string): EvmAddress {
  const token = context.settings.tokens[symbol];
  if (token === undefined) {
    throw new PoolError('invalid-token', `token ${symbol} is no longer configured for this chain`);
  }
  return token.address;
}
