/**
 * Whether a batch that is posted now would be sent (docs/decisions/0009, §21). Agents read it at bootstrap, so a dry run
 * notices a stuck relayer behind a platform that answers. The relayer's worker checks as it works and keeps the result;
 * readers get that result, and cause no further check.
 *
 * @module
 */
import type { RelayerHealth } from '@pool/api';
import { errorCodeOf } from '@pool/core';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { describeFailure, type Log } from '../log.ts';

export type RelayerHealthDeps = {
  readonly db: PlatformDatabase;
  readonly chain: PoolChain;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long the first transaction of a nonce may wait to be mined before the relayer counts as stuck. */
  readonly stuckAfterMs: number;
};

export type RelayerWatch = {
  readonly chain: string;
  /** Checks, unless a check shortly before found no problem. Never throws. */
  look(): Promise<void>;
  /** Reports progress of the worker: a long pass would otherwise count as stalled. */
  notePulse(): void;
  /** The result of the last check. Undefined: none yet. */
  read(): RelayerHealth | undefined;
};

/** Gas that a `fund` transaction of the largest batch is given for a funder with a key, margins included. */
const fundGas = 1_000_000n;

/** How long a good result is kept; after a bad one every pass checks. */
const lookEveryMs = 5_000;

/** A worker without a check or progress for so long is stalled. */
const stalledAfterMs = 120_000;

export function createRelayerWatch(deps: RelayerHealthDeps): RelayerWatch {
  const { chain, log, nowMs } = deps;
  let seen: { readonly health: RelayerHealth; readonly atMs: number } | undefined;
  let pulseAtMs = 0;

  async function look(): Promise<void> {
    const agoMs = seen === undefined ? undefined : nowMs() - seen.atMs;
    // Otherwise a clock that was set back would keep the old result for as long.
    if (seen?.health.ok === true && agoMs !== undefined && agoMs >= 0 && agoMs < lookEveryMs) {
      return;
    }
    const health = await observe();
    if (seen?.health.code !== health.code) {
      log[health.ok ? 'info' : 'warn']({ chain: chain.key, ...health }, 'relayer health changed');
    }
    pulseAtMs = nowMs();
    seen = { health, atMs: pulseAtMs };
  }

  async function observe(): Promise<RelayerHealth> {
    try {
      return await observeRelayer(deps);
    } catch (error) {
      log.debug(
        { chain: chain.key, ...describeFailure(error) },
        'the relayer cannot check its health',
      );
      const isDatabase = errorCodeOf(error) === 'database_unavailable';
      return { ok: false, code: isDatabase ? 'stalled' : 'rpc_unreachable' };
    }
  }

  return {
    chain: chain.key,
    look,
    notePulse() {
      pulseAtMs = nowMs();
    },
    read() {
      return seen !== undefined && nowMs() - pulseAtMs > stalledAfterMs
        ? { ok: false, code: 'stalled' }
        : seen?.health;
    },
  };
}

/** The cause that lasts longest comes first: a stuck transaction, then fees, then missing coin. */
async function observeRelayer(deps: RelayerHealthDeps): Promise<RelayerHealth> {
  const { chain } = deps;
  const [funds, minedNonce] = await Promise.all([
    chain.fetchRelayerFunds(fundGas),
    chain.fetchNonce(),
  ]);
  if (await hasStuckTransaction(deps, minedNonce)) {
    return { ok: false, code: 'transaction_stuck' };
  }
  if (funds.fees === undefined) {
    return { ok: false, code: 'fee_cap_reached' };
  }
  return funds.balanceWei < fundGas * funds.fees.maxFeePerGas
    ? { ok: false, code: 'insufficient_gas' }
    : { ok: true };
}

/** @param minedNonce - next nonce at the head: mined transactions wait for finality only */
async function hasStuckTransaction(
  { db, chain, nowMs, stuckAfterMs }: RelayerHealthDeps,
  minedNonce: number,
): Promise<boolean> {
  const first = await db
    .selectFrom('relayer_transactions')
    .select((eb) => eb.fn.min('created_at').as('signedAt'))
    .where('chain', '=', chain.key)
    .where('state', '=', 'open')
    .where('nonce', '>=', minedNonce)
    .executeTakeFirst();
  const signedAt = first?.signedAt ?? null;
  return signedAt !== null && nowMs() - Date.parse(signedAt) >= stuckAfterMs;
}
