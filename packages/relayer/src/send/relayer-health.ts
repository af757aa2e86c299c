/**
 * Whether a batch that is posted now would be sent (docs/decisions/0007). Agents read it at bootstrap, so a dry run
 * notices a stuck relayer behind a platform that answers. The relayer's worker checks as it works and keeps the result;
 * readers get that result, and cause no further check.
 *
 * @module
 */
import type { RelayerHealth } from '@pool/api';
import { errorCodeOf } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { SenderFunds } from '@pool/evm-sender';
import { describeFailure, type Log } from '@pool/http-server';
import { isNearTotal, isShareNear, readTotalUse, type TotalUse } from '../budget/relayer-total.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { queryOpen } from '../store/submissions.ts';

export type RelayerHealthDeps = {
  readonly db: PlatformDatabase;
  readonly chain: PoolChain;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long the first transaction of a nonce may wait to be mined before the relayer counts as stuck. */
  readonly stuckAfterMs: number;
  /** The most that the relayer may spend in 24 hours. Absent: no limit, in tests only. */
  readonly dailyWei?: bigint;
  /** Whether a new key waits (reload.ts). Absent: no, in tests only. */
  readonly isWaiting?: () => boolean;
};

export type RelayerWatch = ReturnType<typeof createRelayerWatch>;

/** Gas that a `fund` transaction of the largest batch is given for a funder with a key, margins included. */
const fundGas = 1_000_000n;

/** How long a good result is kept; after a bad one every pass checks. */
const lookEveryMs = 5_000;

/** A worker without a check or progress for so long is stalled. */
const stalledAfterMs = 120_000;

export function createRelayerWatch(deps: RelayerHealthDeps) {
  const { chain, log, nowMs } = deps;
  let seen: { readonly health: RelayerHealth; readonly atMs: number } | undefined;
  let pulseAtMs = 0;
  let last: Partial<Observation> = {};

  async function look(): Promise<void> {
    const agoMs = seen === undefined ? undefined : nowMs() - seen.atMs;
    // Otherwise a clock that was set back would keep the old result for as long.
    if (seen?.health.ok === true && agoMs !== undefined && agoMs >= 0 && agoMs < lookEveryMs) {
      return;
    }
    const health = await observe();
    if (seen?.health.code !== health.code) {
      const level = health.code === undefined ? 'info' : 'warn';
      log[level]({ chain: chain.key, ...health, ...last.use }, 'relayer health changed');
    }
    pulseAtMs = nowMs();
    seen = { health, atMs: pulseAtMs };
  }

  async function observe(): Promise<RelayerHealth> {
    try {
      const seenNow = await observeRelayer(deps);
      last = { ...seenNow, feeWei: seenNow.feeWei ?? last.feeWei };
      return seenNow.health;
    } catch (error) {
      log.debug(
        { chain: chain.key, ...describeFailure(error) },
        'the relayer cannot check its health',
      );
      const isDatabase = /^database_/.test(errorCodeOf(error) ?? '');
      return { ok: false, code: isDatabase ? 'stalled' : 'chain_unreachable' };
    }
  }

  return {
    /** Checks, unless a check shortly before found no problem. Never throws. */
    look,
    /** Reports progress of the worker: a long pass would otherwise count as stalled. */
    notePulse() {
      pulseAtMs = nowMs();
    },
    /** The result of the last check. Undefined: none yet. */
    read(): RelayerHealth | undefined {
      return seen !== undefined && nowMs() - pulseAtMs > stalledAfterMs
        ? { ok: false, code: 'stalled' }
        : seen?.health;
    },
    /** What a transaction would have offered per unit of gas at the last check. Undefined: not known yet. */
    readFeeWei: () => last.feeWei,
    /** The relayer's coin at the last check. Undefined: not known yet. */
    readBalanceWei: () => last.balanceWei,
    /** The coin of 24 hours at the last check. Undefined: not known yet, or without a limit. */
    readTotalUse: () => last.use,
  };
}

/** The watches of the relayers of a chain, as one. The worst of their results counts: each of them has its share of the submissions. */
export function joinRelayerWatches(
  watches: readonly RelayerWatch[],
): Omit<RelayerWatch, 'look' | 'notePulse'> {
  const firstOf = <T>(read: (watch: RelayerWatch) => T | undefined): T | undefined =>
    watches.map(read).find((value) => value !== undefined);
  return {
    read() {
      const all = watches.map(({ read }) => read());
      return (
        all.find((health) => health?.ok === false) ??
        all.find((health) => health?.code !== undefined) ??
        all[0]
      );
    },
    readFeeWei: () => firstOf(({ readFeeWei }) => readFeeWei()),
    /** The lowest. */
    readBalanceWei: () =>
      watches
        .map(({ readBalanceWei }) => readBalanceWei())
        .reduce((lowest, wei) =>
          wei === undefined || (lowest !== undefined && lowest < wei) ? lowest : wei,
        ),
    readTotalUse: () => firstOf(({ readTotalUse }) => readTotalUse()),
  };
}

type Observation = {
  readonly health: RelayerHealth;
  readonly balanceWei: bigint;
  readonly feeWei?: bigint | undefined;
  readonly use?: TotalUse | undefined;
};

async function observeRelayer(deps: RelayerHealthDeps): Promise<Observation> {
  const { chain, db, dailyWei, nowMs } = deps;
  const [funds, minedNonce, hasRole] = await Promise.all([
    chain.fetchFunds(fundGas),
    chain.fetchNonce(),
    chain.hasRelayerRole(),
  ]);
  const feeWei = funds.fees?.maxFeePerGas;
  const use =
    dailyWei === undefined
      ? undefined
      : await readTotalUse(db, chain.key, { dailyWei, feeWei }, nowMs());
  const isStuck = await hasStuckTransaction(deps, minedNonce);
  const health = hasRole
    ? judge(isStuck, funds, use)
    : ({ ok: false, code: 'relayer_role_missing' } as const);
  const isWaiting = health.ok && health.code === undefined && deps.isWaiting?.() === true;
  return {
    health: isWaiting ? { ok: true, code: 'new_key_waits' } : health,
    balanceWei: funds.balanceWei,
    feeWei,
    use,
  };
}

/** The cause that lasts longest comes first: a stuck transaction, then the coin of the day, then fees, then missing coin. */
function judge(isStuck: boolean, funds: SenderFunds, use: TotalUse | undefined): RelayerHealth {
  if (isStuck) {
    return { ok: false, code: 'transaction_stuck' };
  }
  if (use !== undefined && use.usedGwei >= use.dailyGwei) {
    return { ok: false, code: 'daily_total_reached' };
  }
  if (funds.fees === undefined) {
    return { ok: false, code: 'fee_cap_reached' };
  }
  if (funds.balanceWei < fundGas * funds.fees.maxFeePerGas) {
    return { ok: false, code: 'insufficient_gas' };
  }
  if (use !== undefined && isNearTotal(use)) {
    return { ok: true, code: 'daily_total_near' };
  }
  return use !== undefined && isShareNear(use)
    ? { ok: true, code: 'daily_share_near' }
    : { ok: true };
}

/** @param minedNonce - next nonce at the head: mined transactions wait for finality only */
async function hasStuckTransaction(
  { db, chain, nowMs, stuckAfterMs }: RelayerHealthDeps,
  minedNonce: number,
): Promise<boolean> {
  const first = await queryOpen(db, chain.key, chain.relayerAddress)
    .select((eb) => eb.fn.min('created_at').as('signedAt'))
    .where('nonce', '>=', minedNonce)
    .executeTakeFirst();
  const signedAt = first?.signedAt ?? null;
  return signedAt !== null && nowMs() - Date.parse(signedAt) >= stuckAfterMs;
}
