/**
 * How often callers of the platform and of the gate may call.
 *
 * @module
 */
import { createCallerLimiter, createRateLimiter, type RateLimiter } from '@pool/http-server';

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

export function createRateLimits(config: RateLimitConfig, nowMs: () => number) {
  const parts = settlementCost.request + settlementCost.checks;
  const perMinute = (count: number): RateLimiter =>
    createRateLimiter({ perSecond: (parts * count) / 60, burst: parts * count, nowMs });
  return {
    address: createCallerLimiter(config.addressPerSecond, nowMs),
    session: createCallerLimiter(config.sessionPerSecond, nowMs),
    edge: createCallerLimiter(config.edgePerSecond, nowMs),
    /** In parts of a settlement: see {@link settlementCost}. */
    settlements: perMinute(config.settlementsPerMinute),
    /** In the same parts. */
    spends: perMinute(config.spendsPerMinute),
    /** Of one owner of edge tokens and holder keys, in parts of {@link batchCost}. */
    batches: createRateLimiter({
      perSecond: batchPartsPerMib * config.batchMibPerSecond,
      burst: 60 * batchPartsPerMib * config.batchMibPerSecond,
      nowMs,
    }),
    /** Of one employer or holder: settlements or spends whose proof did not verify. */
    refusedProofs: createRateLimiter({
      perSecond: refusedProofs.perDay / 86_400,
      burst: refusedProofs.atOnce,
      nowMs,
    }),
  };
}
