/**
 * Decides whose settlement is checked next. Employers take turns, so an employer who posts many settlements does not delay
 * the others, and each has at most one check under way. When all places are taken, the longest line loses its last one, so a few
 * employers with full lines do not close the others out.
 *
 * @module
 */
import { PoolError } from '@pool/core';

export type Turns = {
  /**
   * Runs the work when the caller's turn comes.
   * @throws PoolError `rate_limited` (429) when too many of this caller wait, `verifier_unavailable` (503, retryable)
   *   when too many wait or the turn does not come in time; what the work throws
   */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
};

export type TurnLimits = {
  /** Of different callers. */
  readonly atOnce: number;
  readonly maxWaiting: number;
  readonly maxWaitingOfCaller: number;
  readonly waitMs: number;
};

/** Checking one proof and one batch takes about 60 ms. */
const defaultLimits: TurnLimits = {
  atOnce: 1,
  maxWaiting: 64,
  maxWaitingOfCaller: 8,
  waitMs: 15_000,
};

type Waiting = { readonly begin: () => void; readonly refuse: (reason: PoolError) => void };

export function createTurns(limits: Partial<TurnLimits> = {}): Turns {
  const { atOnce, maxWaiting, maxWaitingOfCaller, waitMs } = { ...defaultLimits, ...limits };
  /** Lines of the callers, in the order in which their turns come. */
  const lines = new Map<string, Waiting[]>();
  const busy = new Set<string>();
  let waiting = 0;

  function beginNext(): void {
    for (const [caller, line] of lines) {
      if (busy.size >= atOnce) {
        return;
      }
      const next = busy.has(caller) ? undefined : line.shift();
      if (next !== undefined) {
        // Goes to the end of the line if more of it waits.
        lines.delete(caller);
        if (line.length > 0) {
          lines.set(caller, line);
        }
        waiting -= 1;
        busy.add(caller);
        next.begin();
      }
    }
  }

  function leave(caller: string, one: Waiting): void {
    const line = lines.get(caller) ?? [];
    line.splice(line.indexOf(one), 1);
    waiting -= 1;
    if (line.length === 0) {
      lines.delete(caller);
    }
  }

  /** @param own - places of the caller who asks. Nobody is left with fewer than this caller then has */
  function makeRoom(own: number): boolean {
    const [caller = '', line = []] =
      [...lines].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? [];
    const last = line.at(-1);
    if (last === undefined || line.length - 1 <= own) {
      return false;
    }
    leave(caller, last);
    last.refuse(unavailable('too many settlements wait to be checked'));
    return true;
  }

  async function wait(caller: string): Promise<void> {
    const line = lines.get(caller) ?? [];
    if (line.length >= maxWaitingOfCaller) {
      throw new PoolError(
        'rate_limited',
        'too many settlements of this employer wait to be checked; try again in 1 s',
        { details: { retryAfterSeconds: 1 } },
      );
    }
    if (waiting >= maxWaiting && !makeRoom(line.length)) {
      throw unavailable('too many settlements wait to be checked');
    }
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const one: Waiting = { begin: () => resolve(undefined), refuse: reject };
    const timer = setTimeout(() => {
      leave(caller, one);
      reject(unavailable('the settlement waited too long to be checked'));
    }, waitMs);
    line.push(one);
    lines.set(caller, line);
    waiting += 1;
    beginNext();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async run(caller, work) {
      await wait(caller);
      try {
        return await work();
      } finally {
        busy.delete(caller);
        beginNext();
      }
    },
  };
}

function unavailable(reason: string): PoolError {
  return new PoolError('verifier_unavailable', `${reason}; try again shortly`);
}
