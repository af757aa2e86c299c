/**
 * One run of one job: its record, its lease and the habits every stage shares (persist, announce, retry).
 *
 * @module
 */
import { type EvmAddress, isPoolError, type JobStage, PoolError } from '@pool/core';
import type { ComputeQueue, Pace } from '../give-way.ts';
import type {
  ChainContext,
  Clock,
  FunderPort,
  GatePort,
  JobJournal,
  PaidKeys,
  PlatformPort,
  ProverPort,
} from '../ports.ts';
import { type AllowanceHold, createAllowanceHold } from './allowance-hold.ts';
import type { Fingerprinter } from './body-fingerprint.ts';
import type { FaultPoint } from './fault-points.ts';
import { InterruptedRunError } from './interrupted-run.ts';
import type { KeyLock } from './key-lock.ts';
import type { Batch } from './plan-batch.ts';
import { type DisbursementRecord, serializeRecord } from './record.ts';

/** What happened, for logs, terminals and measurements. Never confidential. */
export type RunEvent =
  | { readonly kind: 'stage'; readonly stage: JobStage }
  | { readonly kind: 'progress'; readonly stage: JobStage; readonly fraction: number }
  | {
      readonly kind: 'retry';
      readonly stage: JobStage | undefined;
      readonly code: string;
      /** Code of the underlying error, for whoever runs the agent. */
      readonly cause?: string;
    }
  /** The settlement of a released batch was refused or reverted, or is not sent again because its key was used elsewhere. */
  | { readonly kind: 'refused'; readonly stage: JobStage | undefined; readonly code: string }
  | { readonly kind: 'outcome'; readonly state: 'done' | 'failed'; readonly code?: string };

export type DisbursementDeps = {
  readonly clock: Clock;
  /** Undefined: the chain is not routable (any more). */
  readonly findChain: (key: string) => ChainContext | undefined;
  readonly platform: PlatformPort;
  readonly paidKeys: PaidKeys;
  /** Tells whether another agent was given the same request under a key. */
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
  /** Pause between two looks at chain and platform. */
  readonly pollMs: number;
  /** How long one call may keep failing before an unreleased job fails with its error. */
  readonly patienceMs: number;
  readonly onEvent: (event: RunEvent) => void;
  /** Announces a {@link FaultPoint}; tests end the run there. */
  readonly reach: (point: FaultPoint) => Promise<void>;
};

/** A stage in which something is done. The others name what a job waits for. */
export type WorkStage = Exclude<JobStage, WaitingStage>;
type WaitingStage = 'awaiting-turn' | 'settlement-refused' | 'cancelling' | 'configuration-changed';

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
  /** The batch, if this run has built it. */
  builtBatch(): Batch | undefined;
  keepBatch(batch: Batch): void;
  /** Persists changes; on disk when it resolves. */
  update(changes: Partial<DisbursementRecord>): Promise<void>;
  finish(state: 'done' | 'failed', changes: Partial<DisbursementRecord>): Promise<void>;
  /** Persists the stage, then works; its seconds are persisted with the next update. */
  within<T>(stage: WorkStage, work: () => Promise<T>): Promise<T>;
  /** Persists and announces what the job waits for. Changes nothing about whose time is counted. */
  announce(stage: JobStage): Promise<void>;
  reach(point: FaultPoint): Promise<void>;
  /** Waits for a lock of the process. @returns how to release it */
  acquire(name: string): Promise<() => void>;
  /** The lock over this funder's tokens of one kind. Its holder alone decides about the allowance. */
  readonly hold: AllowanceHold;
  progress(fraction: number): void;
  /** Tries again while the error is retryable, for `patienceMs`. */
  retry<T>(work: () => Promise<T>): Promise<T>;
  pause(milliseconds: number): Promise<void>;
  /** To await between two pieces of computing. */
  readonly pace: Pace;
  /** The later of our clock and the chain's newest block, Unix seconds. */
  now(): Promise<number>;
};

/** What a run needs that only a routable chain and a configured funder give. */
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

  /** Adds what the current stage has taken since it was last counted. */
  function countSeconds(): void {
    const nowMs = clock.nowMs();
    if (working !== undefined) {
      const { stage, sinceMs } = working;
      const seconds = (current.stageSeconds[stage] ?? 0) + (nowMs - sinceMs) / 1000;
      current = { ...current, stageSeconds: { ...current.stageSeconds, [stage]: seconds } };
      working = { stage, sinceMs: nowMs };
    }
  }

  async function update(changes: Partial<DisbursementRecord>): Promise<void> {
    countSeconds();
    current = { ...current, ...changes };
    await guard(() => journal.save('submitted', serializeRecord(current)));
  }

  async function reach(point: FaultPoint): Promise<void> {
    try {
      await deps.reach(point);
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

  /** A store that does not answer says nothing about the job: the run ends, the job stays. */
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
    builtBatch: () => batch,
    keepBatch(built) {
      batch = built;
    },
    update,
    reach,
    pause,
    pace: deps.computeQueue.createJobPace(),
    acquire,
    hold: createAllowanceHold(
      ['allowance', base.context.key, base.token, base.funder.address].join(' '),
      { acquire, isTaken: deps.locks.isTaken },
    ),
    async finish(state, changes) {
      const { stage: _stage, ...rest } = { ...current, ...changes };
      current = rest;
      await reach('result.before-store');
      await guard(() => journal.save(state, serializeRecord(current)));
      await reach('result.after-store');
      const code = current.error?.code;
      deps.onEvent({ kind: 'outcome', state, ...(code === undefined ? {} : { code }) });
    },
    announce,
    async within(stage, work) {
      await announce(stage);
      await reach(`${stage}.entered`);
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

/** Codes only: the text of an unknown error may quote anything. */
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
