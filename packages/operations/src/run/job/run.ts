/**
 * One run of one job: its record, and what every stage needs: store, announce, retry, wait.
 *
 * @module
 */
import { type EvmAddress, type Hex, type Hex32, type JobStage, PoolError } from '@pool/core';
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
  ChainPort,
  FunderPort,
  GatePort,
  JobJournal,
  PaidKeys,
  PlatformPort,
  ProverPort,
} from '../../ports.ts';
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
import {
  type Batch,
  cancellationName,
  computeJobNonce,
  type DisbursementRecord,
  serializeRecord,
} from './record.ts';

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
export type WorkStage = Exclude<
  JobStage,
  | 'awaiting-approval'
  | 'awaiting-turn'
  | 'settlement-refused'
  | 'cancelling'
  | 'configuration-changed'
>;

/** Facts that change within a phase. */
type PhaseChanges = Partial<Asked & Grant & Landing & { readonly proved: RecordedProof }>;

/** Facts that change independently of the phase. */
type RecordChanges = Partial<
  Pick<DisbursementRecord, 'allowanceState' | 'foreign' | 'blocked' | 'stage'>
>;

/** The fault points just before a write, and just after. */
type Points = { readonly before?: FaultPoint; readonly after?: FaultPoint };

export type RunInput = {
  readonly record: DisbursementRecord;
  readonly journal: JobJournal;
  /** Aborted on shutdown and on a lost lease. */
  readonly signal: AbortSignal;
};

/** What a run needs from a routable chain and a configured funder. */
export type RunBase = {
  readonly context: ChainContext;
  readonly funder: FunderPort;
  readonly token: EvmAddress;
};

export type Run = RunBase & {
  readonly deps: DisbursementDeps;
  readonly signal: AbortSignal;
  /** Sum of the recipients, base units. */
  readonly total: bigint;
  /** {@link computeJobNonce} under the current settings. */
  readonly batchNonce: Hex32;
  /** Chain and platform, asked again through an outage, for `patienceMs`. `context.chain` and `deps.platform` are asked once. */
  readonly chain: ChainPort;
  readonly platform: PlatformPort;
  readonly record: DisbursementRecord;
  readonly phase: OpenPhase;
  /** What the signer was asked for and has given. Nothing before the proof. */
  readonly given: Asked & Grant & { readonly signature?: Hex };
  /** What became of the authorisation. Nothing before its release. */
  readonly landing: Landing;
  /** True while an approval of the job may still be given, or be mined: then no other batch may count on the allowance. */
  readonly mayChangeAllowance: boolean;
  /** The batch, if this run has built it. */
  batch: Batch | undefined;
  /** Stores facts beside the phase. They are on disk when it resolves. */
  note(changes: RecordChanges): Promise<void>;
  /** Stores facts of the phase. Refuses facts that {@link disbursementPhases} does not give it. */
  amend(changes: PhaseChanges, points?: Points): Promise<void>;
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
  getValue(name: string): Promise<string | undefined>;
  /** Stores a named text if none is stored, and returns the stored one. */
  putOnce(name: string, value: string, points?: Points): Promise<string>;
  isCancelled(): Promise<boolean>;
  /** For the steps before the release. @throws PoolError `cancelled` */
  assertNotCancelled(): Promise<void>;
  /** Stores the stage, then works. Its seconds are stored with the next update. */
  within<T>(stage: WorkStage, work: () => Promise<T>): Promise<T>;
  /** Stores and announces what the job waits for. The time still counts for the current work stage. */
  announce(stage: JobStage): Promise<void>;
  /** Announces that something is tried again. Codes only: the text of an unknown error may quote confidential values. */
  announceRetry(error: unknown): void;
  /** @throws InterruptedRunError when a test ends the run there */
  passFaultPoint(point: FaultPoint): Promise<void>;
  /** Works while no other run of the process holds the lock. */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
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
  /** Tries again while the error is retryable, for `patienceMs`. */
  retry<T>(work: () => Promise<T>): Promise<T>;
  /** @param leastMs - where `pollMs` would be too often */
  pause(leastMs?: number): Promise<void>;
  /** Awaited between two pieces of computing. */
  readonly pace: Pace;
  /** The later of our clock and the chain's newest block, Unix seconds. */
  now(): Promise<number>;
};

export function createRun(
  { record, journal, signal }: RunInput,
  start: OpenPhase,
  base: RunBase,
  deps: DisbursementDeps,
): Run {
  const { clock, onEvent, patienceMs } = deps;
  const { context, funder, token } = base;
  let current = record;
  let phase = start;
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

  const passFaultPoint = (point: FaultPoint): Promise<void> => passPoint(deps.onFaultPoint, point);

  /** A store that does not answer ends the run. The job stays as it is stored. */
  async function write<T>({ before, after }: Points, work: () => Promise<T>): Promise<T> {
    if (before !== undefined) {
      await passFaultPoint(before);
    }
    const written = await work().catch((cause: unknown) => {
      throw new InterruptedRunError('the job store did not answer', { cause });
    });
    if (after !== undefined) {
      await passFaultPoint(after);
    }
    return written;
  }

  function store(next: OpenPhase, changes: RecordChanges, points: Points = {}): Promise<void> {
    return write(points, () => {
      countSeconds();
      phase = next;
      current = { ...current, ...changes, phase };
      return journal.save('submitted', serializeRecord(current));
    });
  }

  /** What the process gives until it stops. */
  async function orStop<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      throw createStopError(cause);
    }
  }

  const acquire = (name: string): Promise<() => void> => orStop(deps.locks.acquire(name, signal));

  function createHold(name: string): AllowanceHold {
    return createAllowanceHold({
      acquire: () => acquire(name),
      isTaken: () => deps.locks.isTaken(name),
    });
  }

  async function retry<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await retryWork({ clock, patienceMs, signal, onRetry: run.announceRetry }, work);
    } catch (error) {
      rethrowInterruption(error, signal);
      throw error;
    }
  }

  /** The same port, each call of which is tried again. */
  function askAgain<T extends object>(port: T): T {
    return new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function'
          ? (...values: unknown[]) =>
              retry(async () => (await Reflect.apply(member, target, values)) as unknown)
          : member;
      },
    });
  }

  const run: Run = {
    ...{ deps, signal, context, funder, token, retry, passFaultPoint },
    total: current.recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    batchNonce: computeJobNonce(base, record.employerId, record.key),
    chain: askAgain(context.chain),
    platform: askAgain(deps.platform),
    get record() {
      return current;
    },
    get phase() {
      return phase;
    },
    get given() {
      return { votes: [], approvals: [], ...phase };
    },
    get landing() {
      return 'releasedAtMs' in phase || phase.kind === 'abandoned' ? phase : {};
    },
    get mayChangeAllowance() {
      const { approvalRequest, approvals } = run.given;
      return approvalRequest !== undefined || approvals.at(-1)?.mined === false;
    },
    batch: undefined,
    note: (changes) => store(phase, changes),
    amend: (changes, points) => store(change<OpenPhase>(phase.kind, changes), {}, points),
    move: (kind, facts) =>
      store(change<OpenPhase>(kind, facts), {}, disbursementPhases[kind].stored),
    async finish(kind, facts) {
      const ended = change<EndPhase>(kind, { ...facts, before: phase });
      current = { ...current, stage: undefined, blocked: undefined, phase: ended };
      const state = kind === 'failed' ? 'failed' : 'done';
      const save = () => journal.save(state, serializeRecord(current));
      await write(disbursementPhases[kind].stored, save);
      const code = ended.kind === 'failed' ? { code: ended.error.code } : {};
      onEvent({ kind: 'outcome', state, ...code });
    },
    getValue: (name) => write({}, () => journal.getValue(name)),
    putOnce: (name, value, points = {}) => write(points, () => journal.putOnce(name, value)),
    isCancelled: async () => (await run.getValue(cancellationName)) !== undefined,
    async assertNotCancelled() {
      if (await run.isCancelled()) {
        throw new PoolError(
          'cancelled',
          'the job was cancelled before its batch left this agent, and nothing was paid; to pay after all, use a new Idempotency-Key',
        );
      }
    },
    async within(stage, work) {
      await run.announce(stage);
      await passFaultPoint(`${stage}.entered`);
      working = { stage, sinceMs: clock.nowMs() };
      try {
        return await work();
      } finally {
        countSeconds();
        working = undefined;
      }
    },
    async announce(stage) {
      const isStored = current.stage === stage;
      if (!isStored) {
        await run.note({ stage });
      }
      if (!isStored || announced !== stage) {
        announced = stage;
        onEvent({ kind: 'stage', stage });
      }
    },
    announceRetry(error) {
      const cause = error instanceof Error ? codeOf(error.cause) : undefined;
      const code = codeOf(error) ?? 'internal_error';
      onEvent({
        ...{ kind: 'retry', stage: current.stage, code },
        ...(cause === undefined ? {} : { cause }),
      });
    },
    async withLock(name, work) {
      const release = await acquire(name);
      try {
        return await work();
      } finally {
        release();
      }
    },
    async awaitTurn(next) {
      const mustWait = run.hold.isTaken();
      if (mustWait) {
        await run.announce('awaiting-turn');
      }
      await run.hold.acquire();
      if (mustWait && next !== undefined) {
        await run.announce(next);
      }
    },
    hold: createHold(`allowance ${context.key} ${token} ${funder.address}`),
    approvalHold: createHold(`approval ${context.key} ${funder.address}`),
    pause: (leastMs = 0) => orStop(clock.sleep(Math.max(deps.pollMs, leastMs), signal)),
    pace: deps.computeQueue.createJobPace(),
    async now() {
      const head = await context.chain.fetchHeadTimestamp();
      return Math.max(head, Math.floor(clock.nowMs() / 1000));
    },
  };
  return run;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/**
 * The lock of one run on its chain, token and funder. Only its holder decides what the balance of the funder still covers
 * and what the pool may take. A batch holds it from that decision until it has ended, or until the relayer says that nothing
 * of it is out. Before the batch is sent again, it takes the lock again (docs/decisions/0007).
 */
type AllowanceHold = {
  /** True if another run holds it, so that {@link AllowanceHold.acquire} would wait. */
  isTaken(): boolean;
  /** True if {@link AllowanceHold.acquire} or {@link AllowanceHold.claim} ever found the lock taken. */
  hasWaited(): boolean;
  /** Waits for the lock. Does nothing when it is held. */
  acquire(): Promise<void>;
  /** Queues for the lock without waiting. @returns whether it is held now */
  claim(): boolean;
  /** Releases the lock. It may be taken again. */
  release(): void;
  /** Releases the lock permanently, and leaves the queue. */
  end(): void;
};

/** @param lock - of the process; `acquire` rejects when the run is interrupted */
function createAllowanceHold(lock: {
  acquire(): Promise<() => void>;
  isTaken(): boolean;
}): AllowanceHold {
  let free: (() => void) | undefined;
  let waiting: Promise<void> | undefined;
  let hasEnded = false;
  let hasWaited = false;

  async function wait(): Promise<void> {
    free = await lock.acquire();
    if (hasEnded) {
      hold.release();
    }
  }

  function queue(): Promise<void> {
    hasWaited ||= hold.isTaken();
    if (free !== undefined) {
      return Promise.resolve();
    }
    waiting ??= wait().finally(() => {
      waiting = undefined;
    });
    return waiting;
  }

  const hold: AllowanceHold = {
    isTaken: () => free === undefined && lock.isTaken(),
    hasWaited: () => hasWaited,
    acquire: queue,
    claim() {
      // An interruption also ends the run, which reports it.
      queue().catch(() => undefined);
      return free !== undefined;
    },
    release() {
      free?.();
      free = undefined;
    },
    end() {
      hasEnded = true;
      hold.release();
    },
  };
  return hold;
}
