/**
 * One run of one job: its record, and what every stage needs: store, announce, retry, wait.
 *
 * @module
 */
import { type EvmAddress, type Hex, type JobStage, PoolError } from '@pool/core';
import {
  createStopError,
  InterruptedRunError,
  movePhase,
  passPoint,
  rethrowInterruption,
  retryWork,
} from '@pool/idempotency/engine';
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
import {
  type Asked,
  disbursementPhases,
  type EndPhase,
  type FaultPoint,
  type Grant,
  type Landing,
  type OpenPhase,
  type Phase,
  type RecordedProof,
  type RecordedVote,
} from './phases.ts';
import type { Batch } from './plan-batch.ts';
import { type DisbursementRecord, serializeRecord } from './record.ts';

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

/** Facts that change within a phase. */
export type PhaseChanges = Partial<Asked & Grant & Landing & { readonly proved: RecordedProof }>;

/** Facts that change independently of the phase. */
export type RecordChanges = Partial<
  Pick<DisbursementRecord, 'allowanceState' | 'foreign' | 'blocked' | 'stage'>
>;

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
  phase(): OpenPhase;
  /** What the signer was asked for and has given. Nothing before the proof. */
  given(): Asked & Grant & { readonly signature?: Hex };
  /** What became of the authorisation. Nothing before its release. */
  landing(): Landing;
  /** The batch, if this run has built it. */
  builtBatch(): Batch | undefined;
  keepBatch(batch: Batch): void;
  /** Stores facts beside the phase. They are on disk when it resolves. */
  note(changes: RecordChanges): Promise<void>;
  /** Stores facts of the phase. Refuses facts that {@link disbursementPhases} does not give it. */
  amend(changes: PhaseChanges): Promise<void>;
  /** Stores the next phase, with all facts of the present one that it has too. Refuses a change that {@link disbursementPhases} does not contain. */
  move<Kind extends OpenPhase['kind']>(
    kind: Kind,
    facts: Partial<Extract<OpenPhase, { readonly kind: Kind }>>,
  ): Promise<void>;
  /** Stores the end of the job. */
  finish<Kind extends EndPhase['kind']>(
    kind: Kind,
    facts: Omit<Extract<EndPhase, { readonly kind: Kind }>, 'kind' | 'before'>,
  ): Promise<void>;
  /** Stores the stage, then works. Its seconds are stored with the next update. */
  within<T>(stage: WorkStage, work: () => Promise<T>): Promise<T>;
  /** Stores and announces what the job waits for. The time still counts for the current work stage. */
  announce(stage: JobStage): Promise<void>;
  /** @throws InterruptedRunError when a test ends the run there */
  passFaultPoint(point: FaultPoint): Promise<void>;
  /** Waits for a lock of the process. @returns how to release it */
  acquire(name: string): Promise<() => void>;
  /**
   * Waits for {@link Run.hold}: one batch of a chain, token and funder at a time, so that two do not count on the same money. Announces
   * the wait, because another batch may hold the lock until it is final. Does nothing while this run holds it.
   * @param next - announced after a wait. Default: the caller announces its own stage
   */
  awaitTurn(next?: WorkStage): Promise<void>;
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

export function createRun(
  { record, journal, signal }: RunInput,
  start: OpenPhase,
  base: RunBase,
  deps: DisbursementDeps,
): Run {
  const { clock } = deps;
  let current = record;
  let phase = start;
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

  /** @throws InterruptedRunError for a change that the table does not contain: the stored job then stays unchanged */
  function change<Next extends Phase>(kind: Next['kind'], facts: object): Next {
    try {
      return movePhase<Phase>(disbursementPhases, phase, kind, { ...facts }) as Next;
    } catch (cause) {
      throw new InterruptedRunError('the job would contradict itself', { cause });
    }
  }

  async function store(next: OpenPhase, changes: RecordChanges = {}): Promise<void> {
    countSeconds();
    phase = next;
    current = { ...current, ...changes, phase };
    await guard(() => journal.save('submitted', serializeRecord(current)));
  }

  const note = (changes: RecordChanges): Promise<void> => store(phase, changes);
  const passFaultPoint = (point: FaultPoint): Promise<void> => passPoint(deps.onFaultPoint, point);

  async function passStored(kind: Phase['kind'], when: 'before' | 'after'): Promise<void> {
    const points: { readonly before?: FaultPoint; readonly after?: FaultPoint } =
      disbursementPhases[kind].stored;
    const point = points[when];
    if (point !== undefined) {
      await passFaultPoint(point);
    }
  }

  /** What the process gives until it stops. */
  async function orStop<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      throw createStopError(cause);
    }
  }

  const pause = (milliseconds: number): Promise<void> => orStop(clock.sleep(milliseconds, signal));
  const acquire = (name: string): Promise<() => void> => orStop(deps.locks.acquire(name, signal));

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
        await note({ stage });
      }
      announced = stage;
      deps.onEvent({ kind: 'stage', stage });
    }
  }

  const locks = { acquire, isTaken: deps.locks.isTaken };
  const place = [base.context.key, base.token, base.funder.address].join(' ');
  const hold = createAllowanceHold(`allowance ${place}`, locks);
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
    phase: () => phase,
    given: () => ({ votes: [], approvals: [], ...phase }),
    landing: () =>
      phase.kind === 'released' || phase.kind === 'abandoned' || phase.kind === 'recovered'
        ? phase
        : {},
    builtBatch: () => batch,
    keepBatch(built) {
      batch = built;
    },
    note,
    amend: (changes) => store(change<OpenPhase>(phase.kind, changes)),
    async move(kind, facts) {
      const next = change<OpenPhase>(kind, facts);
      await passStored(kind, 'before');
      await store(next);
      await passStored(kind, 'after');
    },
    passFaultPoint,
    pause,
    pace: deps.computeQueue.createJobPace(),
    acquire,
    hold,
    async awaitTurn(next) {
      const mustWait = hold.isTaken();
      if (mustWait) {
        await announce('awaiting-turn');
      }
      await hold.acquire();
      if (mustWait && next !== undefined) {
        await announce(next);
      }
    },
    approvalHold: createAllowanceHold(`approval ${base.context.key} ${base.funder.address}`, locks),
    async finish(kind, facts) {
      const ended = change<EndPhase>(kind, { ...facts, before: phase });
      current = { ...current, stage: undefined, blocked: undefined, phase: ended };
      const state = kind === 'failed' ? 'failed' : 'done';
      await passStored(kind, 'before');
      await guard(() => journal.save(state, serializeRecord(current)));
      await passStored(kind, 'after');
      const code = ended.kind === 'failed' ? ended.error.code : undefined;
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
      const onRetry = (error: unknown): void =>
        deps.onEvent(createRetryEvent(current.stage, error));
      try {
        return await retryWork({ clock, patienceMs: deps.patienceMs, signal, onRetry }, work);
      } catch (error) {
        rethrowInterruption(error, signal);
        throw error;
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
