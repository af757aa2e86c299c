/**
 * Whether a batch that is handed over now would be sent (docs/decisions/0009, §21): told to agents at bootstrap, so
 * that a dry run sees a relayer that is stuck behind a platform that answers. The relayer's worker looks as it
 * goes and keeps what it saw; whoever asks gets that, and asks nobody else.
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
  /** Looks, unless it has just looked and found nothing. Never throws. */
  look(): Promise<void>;
  /** The worker gets on: a pass over many settlements takes longer than one that does not work may be silent. */
  notePulse(): void;
  /** What was seen last. Undefined: nothing yet. */
  read(): RelayerHealth | undefined;
};

/** Gas that a `fund` transaction of the largest batch is given for a funder with a key, margins included. */
const fundGas = 1_000_000n;

/** How long a good look counts before the next; after a bad one every pass looks. */
const lookEveryMs = 5_000;

/** A worker that has neither looked nor got on for so long does not work. */
const stalledAfterMs = 120_000;

export function createRelayerWatch(deps: RelayerHealthDeps): RelayerWatch {
  const { chain, log, nowMs } = deps;
  let seen: { readonly health: RelayerHealth; readonly atMs: number } | undefined;
  let pulseAtMs = 0;

  async function look(): Promise<void> {
    const agoMs = seen === undefined ? undefined : nowMs() - seen.atMs;
    // A clock that was set back would keep what was seen before for as long.
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
      log.debug({ chain: chain.key, ...describeFailure(error) }, 'the relayer cannot look');
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

/** What stands in the way the longest comes first: a transaction in front, then fees, then money. */
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

/** @param minedNonce - next nonce at the head: what is mined there waits for its finality only */
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
