/**
 * The record of one leased job while it is run: its phase and its facts are on disk before the work goes on, and the stage that it is in
 * is told. What is written follows the table of phases, or is refused.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import {
  BlockedRunError,
  createStopError,
  InterruptedRunError,
  passPoint,
  rethrowInterruption,
} from './interruption.ts';
import { cancellationName, type JobJournal } from './job-worker.ts';
import { type AnyPhase, movePhase, type PhaseTable } from './phases.ts';
import { type EngineClock, retryWork } from './waiting.ts';

/** The types of one kind of job. */
type JobTypes = {
  /** The whole stored record. */
  readonly record: {
    readonly phase: AnyPhase;
    /** What the job does, or waits for. */
    readonly stage: string | undefined;
    /** Seconds of work per stage, over all runs. */
    readonly stageSeconds: Readonly<Partial<Record<string, number>>>;
    /** When the job came one step further: its phase changed, or people did what it waited for. Absent: not yet. */
    readonly movedAtMs?: number | undefined;
    /** Why nothing can be done for the job with the current settings. */
    readonly blocked: (ErrorBody & { readonly isCancelled: boolean }) | undefined;
  };
  readonly open: AnyPhase;
  readonly end: AnyPhase;
  /** Names of facts that change independently of the phase. */
  readonly noted: string;
  /** A stage in which the process works. The other stages name what the job waits for. */
  readonly workStage: string;
  readonly point: string;
};

type FactsOfKind<TPhase, TKind> = Extract<TPhase, { readonly kind: TKind }>;

/** A change of any fact that some of the phases have. */
type Changes<TPhase> = {
  readonly [Name in Exclude<
    TPhase extends unknown ? keyof TPhase : never,
    'kind'
  >]?: TPhase extends {
    readonly [Key in Name]?: infer Fact;
  }
    ? Fact | undefined
    : never;
};

/** The fault points just before a write, and just after. */
type Points<TPoint> = { readonly before?: TPoint; readonly after?: TPoint };

export type OpenJob<T extends JobTypes> = {
  readonly record: T['record'];
  readonly phase: T['open'];
  /** Stores facts beside the phase. They are on disk when it resolves. */
  note(changes: Partial<Pick<T['record'], T['noted'] & keyof T['record']>>): Promise<void>;
  /** Stores facts of the phase. Refuses facts that the table does not give it. */
  amend(changes: Changes<T['open']>, points?: Points<T['point']>): Promise<void>;
  /** Stores the next phase, with all facts of the present one that it has too. Refuses a change that the table does not contain. */
  move<Kind extends T['open']['kind']>(
    kind: Kind,
    facts: Partial<FactsOfKind<T['open'], Kind>>,
  ): Promise<void>;
  /** Stores the end of the job, and in it how far the job was. */
  finish<Kind extends T['end']['kind']>(
    kind: Kind,
    facts: Omit<FactsOfKind<T['end'], Kind>, 'kind' | 'before'>,
  ): Promise<void>;
  getValue(name: string): Promise<string | undefined>;
  /** Stores a named text if none is stored, and returns the stored one. */
  putOnce(name: string, value: string, points?: Points<T['point']>): Promise<string>;
  isCancelled(): Promise<boolean>;
  /** Stores the stage, then works. Its seconds are stored with the next update. */
  within<Result>(stage: T['workStage'], work: () => Promise<Result>): Promise<Result>;
  /** Stores and announces what the job waits for. The time still counts for the current work stage. */
  announce(stage: NonNullable<T['record']['stage']>): Promise<void>;
  /**
   * Ends a run that cannot continue with the current settings. The reason is stored and announced if it is new.
   * @param stage - announced with it
   * @throws BlockedRunError
   */
  block(error: ErrorBody, stage: NonNullable<T['record']['stage']>): Promise<never>;
  /** Announces that something is tried again. Codes only: the text of an unknown error may quote confidential values. */
  announceRetry(error: unknown): void;
  /** @throws InterruptedRunError when a test ends the run there */
  passFaultPoint(point: T['point']): Promise<void>;
  /** Tries again while the error is retryable, for `patienceMs`. */
  retry<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The same port, each call of which is tried again. */
  askAgain<Port extends object>(port: Port): Port;
  /** Asks again until it gets an answer. Only interruptions end it. */
  insist<Result>(work: () => Promise<Result>): Promise<Result>;
  /** @param leastMs - where `pollMs` would be too often */
  pause(leastMs?: number): Promise<void>;
  /** What the process gives until it stops. */
  orStop<Result>(work: Promise<Result>): Promise<Result>;
};

/** What a job tells about itself. */
export type JobNotice<TStage> =
  | { readonly kind: 'stage'; readonly stage: TStage }
  | {
      readonly kind: 'retry';
      readonly stage: TStage | undefined;
      readonly code: string;
      /** Code of the underlying error, for the operator. */
      readonly cause?: string;
    }
  | { readonly kind: 'outcome'; readonly state: 'done' | 'failed'; readonly code?: string };

export function openJob<T extends JobTypes>(
  table: PhaseTable<T['open'] | T['end']>,
  input: {
    readonly record: T['record'];
    readonly journal: JobJournal;
    /** Aborted on shutdown and on a lost lease. */
    readonly signal: AbortSignal;
  },
  deps: {
    readonly clock: EngineClock;
    readonly pollMs: number;
    readonly patienceMs: number;
    /** Stages that wait for people. If given, the record has `movedAtMs`. */
    readonly peopleStages?: readonly NonNullable<T['record']['stage']>[];
    readonly onEvent: (event: JobNotice<NonNullable<T['record']['stage']>>) => void;
    readonly onFaultPoint: (point: T['point']) => Promise<void>;
  },
): OpenJob<T> {
  type Stage = NonNullable<T['record']['stage']>;
  const { journal, signal } = input;
  const { clock, pollMs, patienceMs, peopleStages, onEvent } = deps;
  let current = input.record;
  let announced: Stage | undefined;
  let working: { readonly stage: T['workStage']; readonly sinceMs: number } | undefined;

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

  /** A store that does not answer ends the run. The job stays as it is stored. */
  async function write<Result>(
    { before, after }: Points<T['point']>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (before !== undefined) {
      await job.passFaultPoint(before);
    }
    const written = await work().catch((cause: unknown) => {
      throw new InterruptedRunError('the job store did not answer', { cause });
    });
    if (after !== undefined) {
      await job.passFaultPoint(after);
    }
    return written;
  }

  function store(changes: object, points: Points<T['point']>, state = 'submitted'): Promise<void> {
    return write(points, () => {
      countSeconds();
      current = { ...current, ...changes };
      return journal.save(state, JSON.stringify(current));
    });
  }

  /** @throws InterruptedRunError for a change that the table does not contain: the stored job then stays unchanged */
  function follow(kind: string, facts: object): AnyPhase {
    try {
      return movePhase<AnyPhase>(table, current.phase, kind, { ...facts });
    } catch (cause) {
      throw new InterruptedRunError('the job would contradict itself', { cause });
    }
  }

  function noteMove(): { readonly movedAtMs?: number } {
    return peopleStages === undefined ? {} : { movedAtMs: clock.nowMs() };
  }

  const storedPoints = (kind: T['open']['kind'] | T['end']['kind']): Points<T['point']> =>
    table[kind].stored;

  const job: OpenJob<T> = {
    get record() {
      return current;
    },
    get phase() {
      return current.phase;
    },
    note: (changes) => store(changes, {}),
    amend: async (changes, points = {}) =>
      store({ phase: follow(current.phase.kind, changes) }, points),
    move: async (kind, facts) =>
      store({ phase: follow(kind, facts), ...noteMove() }, storedPoints(kind)),
    async finish(kind, facts) {
      const phase = follow(kind, { ...facts, before: current.phase });
      const error = 'error' in facts ? (facts.error as ErrorBody) : undefined;
      const state = error === undefined ? 'done' : 'failed';
      const changes = { phase, stage: undefined, blocked: undefined };
      await store(changes, storedPoints(kind), state);
      onEvent({ kind: 'outcome', state, ...(error === undefined ? {} : { code: error.code }) });
    },
    getValue: (name) => write({}, () => journal.getValue(name)),
    putOnce: (name, value, points = {}) => write(points, () => journal.putOnce(name, value)),
    isCancelled: async () => (await job.getValue(cancellationName)) !== undefined,
    async within(stage, work) {
      await job.announce(stage);
      await job.passFaultPoint(`${stage}.entered`);
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
        const isFreed = current.stage !== undefined && peopleStages?.includes(current.stage);
        await store({ stage, ...(isFreed === true ? noteMove() : {}) }, {});
      }
      if (!isStored || announced !== stage) {
        announced = stage;
        onEvent({ kind: 'stage', stage });
      }
    },
    async block(error, stage) {
      const isCancelled = await job.isCancelled();
      const { blocked } = current;
      if (blocked?.message !== error.message || blocked.isCancelled !== isCancelled) {
        await store({ blocked: { ...error, isCancelled } }, {});
        await job.announce(stage);
      }
      throw new BlockedRunError(error);
    },
    announceRetry(error) {
      const cause = error instanceof Error ? codeOf(error.cause) : undefined;
      const code = codeOf(error) ?? 'internal_error';
      onEvent({
        ...{ kind: 'retry', stage: current.stage, code },
        ...(cause === undefined ? {} : { cause }),
      });
    },
    passFaultPoint: (point) => passPoint(deps.onFaultPoint, point),
    async retry(work) {
      try {
        return await retryWork({ clock, patienceMs, signal, onRetry: job.announceRetry }, work);
      } catch (error) {
        rethrowInterruption(error, signal);
        throw error;
      }
    },
    askAgain: (port) =>
      new Proxy(port, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function'
            ? (...values: unknown[]) =>
                job.retry(async () => (await Reflect.apply(member, target, values)) as unknown)
            : member;
        },
      }),
    async insist(work) {
      for (;;) {
        try {
          return await job.retry(work);
        } catch (error) {
          rethrowInterruption(error, signal);
          job.announceRetry(error);
          await job.pause(1_000);
        }
      }
    },
    pause: (leastMs = 0) => job.orStop(clock.sleep(Math.max(pollMs, leastMs), signal)),
    async orStop(work) {
      try {
        return await work;
      } catch (cause) {
        throw createStopError(cause);
      }
    },
  };
  return job;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
