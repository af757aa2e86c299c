/**
 * How often callers of the platform and of the gate may call.
 *
 * @module
 */
import type { SharedLimit, SharedLimiter } from '@pool/database';
import { createRateLimiter, type RateLimiter, type RateLimiterOptions } from '@pool/http-server';

/** Calls that are allowed in the long run. Of those counted per second, ten seconds' worth may come at once. */
export type RateLimitConfig = {
  /** Of one address: signing in, and calls whose credential is not good. */
  readonly addressPerSecond: number;
  /** Of one wallet, through all of its sessions. */
  readonly sessionPerSecond: number;
  /** Of one edge token, and of one holder key at the edge. */
  readonly edgePerSecond: number;
  /** Of one employer: settlements posted or withdrawn, notes delivered again. A minute's worth may come at once. */
  readonly settlementsPerMinute: number;
  /** Of one holder, through all of its keys: spends posted. A minute's worth may come at once. */
  readonly spendsPerMinute: number;
  /** MiB of `/agent-edge/batches` per second that one owner of credentials reads. A minute's worth may come at once. */
  readonly batchMibPerSecond: number;
};

/** In memory, or in the database of several processes. */
export type Limiter = {
  /** @throws PoolError `rate_limited` (429) with `retryAfterSeconds` */
  take(caller: string, cost?: number): void | Promise<void>;
  /** Takes nothing. @throws PoolError as {@link take} of one call */
  assertLeft(caller: string): void | Promise<void>;
};

/** Makes a limit over all processes of a database. */
export type ShareLimit = (limit: SharedLimit) => SharedLimiter;

export type RateLimits = ReturnType<typeof createRateLimits>;

/**
 * What a request takes from `settlements` or `spends`: a request that is answered from the stored row costs a fifth of one that
 * must be checked. The rest is taken before the first check.
 */
export const settlementCost = { request: 1, checks: 4 } as const;

/**
 * What a request takes from `batches`: one part, and one for each `bytes` of its answer. The refusal of an owner who is not admitted
 * costs more: the database was asked about it, and it can be repeated as fast as the network allows.
 */
export const batchCost = { request: 1, bytes: 64 * 1024, refusal: 63 } as const;

const batchPartsPerMib = (1024 * 1024) / batchCost.bytes;

/** Of one employer or holder. An honest agent verifies its proof before it sends it. */
const refusedProofs = { atOnce: 10, perDay: 24 } as const;

/** @param share - absent: the limits are in memory, of the one process that an embedded database has */
export function createRateLimits(config: RateLimitConfig, nowMs: () => number, share?: ShareLimit) {
  const parts = settlementCost.request + settlementCost.checks;
  const limit = (name: string, perSecond: number, burst: number): Limiter =>
    share?.({ name, perSecond, burst }) ?? createMemoryLimit({ perSecond, burst, nowMs });
  const ofCaller = (name: string, perSecond: number) => limit(name, perSecond, 10 * perSecond);
  const perMinute = (name: string, count: number) =>
    limit(name, (parts * count) / 60, parts * count);
  const batches: RateLimiter = createRateLimiter({
    perSecond: batchPartsPerMib * config.batchMibPerSecond,
    burst: 60 * batchPartsPerMib * config.batchMibPerSecond,
    nowMs,
  });
  return {
    address: ofCaller('address', config.addressPerSecond),
    session: ofCaller('session', config.sessionPerSecond),
    edge: ofCaller('edge', config.edgePerSecond),
    /** In parts of a settlement: see {@link settlementCost}. */
    settlements: perMinute('settlements', config.settlementsPerMinute),
    /** In the same parts. */
    spends: perMinute('spends', config.spendsPerMinute),
    /**
     * Of one owner of edge tokens and holder keys, in parts of {@link batchCost}. Always of one process, whose time and bandwidth it
     * guards.
     */
    batches,
    /** Of one employer or holder: settlements or spends whose proof did not verify. */
    refusedProofs: limit('refused proofs', refusedProofs.perDay / 86_400, refusedProofs.atOnce),
  };
}

function createMemoryLimit(options: RateLimiterOptions): Limiter {
  const { take, giveBack } = createRateLimiter(options);
  return {
    take,
    assertLeft(caller) {
      take(caller);
      giveBack(caller);
    },
  };
}
