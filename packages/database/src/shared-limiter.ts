/**
 * The same limit as `createRateLimiter` of @pool/http-server, over all processes of a database: a row is one caller's bucket, and the
 * server's clock refills it. A process takes several calls from the row at once and spends them within a second, so that a flood costs
 * few statements, and after a refusal none until the next call may come.
 *
 * rate-limiter-flexible counts in windows, so twice as many calls come at the edge of two; its every call is a statement.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { type Kysely, sql } from 'kysely';

export type SharedLimiter = {
  /** @throws PoolError `rate_limited` (429) with `retryAfterSeconds`, `database_unavailable` (503) */
  take(caller: string, cost?: number): Promise<void>;
  /** Undoes one {@link take} of a single call. */
  giveBack(caller: string): Promise<void>;
  /** Takes nothing. @throws PoolError as {@link take} of one call */
  assertLeft(caller: string): Promise<void>;
};

export type SharedLimit = {
  /** Distinguishes the limits of a database. */
  readonly name: string;
  /** Calls of one caller in the long run. */
  readonly perSecond: number;
  /** Calls that may come at once after a pause. */
  readonly burst: number;
};

/** What this process took from a row and has not spent, and what the row refused. */
type Kept = {
  calls: number;
  readonly untilMs: number;
  readonly refused?: { readonly cost: number; readonly untilMs: number };
};

const keptMs = 1_000;
const maxKept = 20_000;

/** @param db - of a service, which has the table `rate_limits` */
export function createSharedLimiter<T>(
  db: Kysely<T>,
  { name, perSecond, burst }: SharedLimit,
): SharedLimiter {
  const kept = new Map<string, Kept>();
  /** One process asks for one caller once at a time: what it gets may be enough for the others who wait. */
  const asking = new Map<string, Promise<number | undefined>>();
  /** What is not spent of it is lost, so a caller within its limit must get more than that. */
  const chunk = Math.floor(perSecond / 4);

  /** Moves the time at which the bucket is full, if enough is in it. @returns whether it was */
  async function takeFromRow(caller: string, calls: number): Promise<boolean> {
    const taken = sql`make_interval(secs => ${calls / perSecond}::double precision)`;
    const full = sql`greatest(clock_timestamp(), rate_limits.full_at) + ${taken}`;
    const { rows } = await sql`insert into rate_limits (caller, full_at)
      values (${`${name} ${caller}`}, clock_timestamp() + ${taken})
      on conflict (caller) do update set full_at = ${full}
      where ${full} <= clock_timestamp() + make_interval(secs => ${burst / perSecond}::double precision)
      returning 1`.execute(db);
    return rows.length > 0;
  }

  /** Seconds until the bucket has as many calls. */
  async function readWait(caller: string, calls: number): Promise<number> {
    const { rows } = await sql<{
      wait: number;
    }>`select extract(epoch from full_at - clock_timestamp())::double precision
      - ${(burst - calls) / perSecond}::double precision as wait
      from rate_limits where caller = ${`${name} ${caller}`}`.execute(db);
    return Math.max(0, Number(rows[0]?.wait ?? 0));
  }

  /** Adds to what is kept. */
  function keep(caller: string, calls: number, refused?: Kept['refused']): void {
    const now = performance.now();
    const own = kept.get(caller);
    const left = own !== undefined && own.untilMs > now ? own.calls : 0;
    kept.delete(caller);
    const untilMs = now + keptMs;
    kept.set(caller, { calls: left + calls, untilMs, ...(refused && { refused }) });
    const oldest = kept.size > maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) {
      kept.delete(oldest);
    }
  }

  /** @returns whether enough was kept. @throws PoolError `rate_limited` if the row has refused as many calls */
  function spend(caller: string, cost: number): boolean {
    const now = performance.now();
    const own = kept.get(caller);
    if (own === undefined || own.untilMs <= now) {
      return false;
    }
    if (own.calls >= cost) {
      own.calls -= cost;
      return true;
    }
    if (own.refused !== undefined && cost >= own.refused.cost && own.refused.untilMs > now) {
      throw describeRefusal((own.refused.untilMs - now) / 1_000);
    }
    return false;
  }

  /** Keeps what the row gives, or that it refuses. @returns seconds to wait where it refuses */
  async function ask(caller: string, cost: number): Promise<number | undefined> {
    for (const calls of new Set([Math.max(cost, chunk), cost])) {
      if (await takeFromRow(caller, calls)) {
        keep(caller, calls);
        return undefined;
      }
    }
    const waitSeconds = await readWait(caller, cost);
    keep(caller, 0, { cost, untilMs: performance.now() + waitSeconds * 1_000 });
    return waitSeconds;
  }

  return {
    async take(caller, cost = 1) {
      while (!spend(caller, cost)) {
        const other = asking.get(caller);
        if (other === undefined) {
          const own = ask(caller, cost).finally(() => asking.delete(caller));
          asking.set(caller, own);
          const waitSeconds = await own;
          if (waitSeconds !== undefined) {
            throw describeRefusal(waitSeconds);
          }
        } else {
          await other;
        }
      }
    },
    async assertLeft(caller) {
      const waitSeconds = await readWait(caller, 1);
      if (waitSeconds > 0) {
        throw describeRefusal(waitSeconds);
      }
    },
    async giveBack(caller) {
      await sql`update rate_limits set full_at = full_at - make_interval(secs => ${1 / perSecond}::double precision)
        where caller = ${`${name} ${caller}`}`.execute(db);
    },
  };
}

function describeRefusal(waitSeconds: number): PoolError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitSeconds));
  return new PoolError('rate_limited', `too many requests; try again in ${retryAfterSeconds} s`, {
    details: { retryAfterSeconds },
  });
}

/** Deletes the buckets that are full: absent ones are too. */
export async function forgetFullBuckets<T>(db: Kysely<T>): Promise<void> {
  await sql`delete from rate_limits where full_at < clock_timestamp()`.execute(db);
}
