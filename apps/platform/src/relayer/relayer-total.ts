/**
 * How much coin the relayer of a chain may spend in 24 hours, whoever caused it (docs/decisions/0067). The limits per employer and
 * holder bound what one of them takes; accounts cost nothing, so only a total bounds the relayer. As in gas-budget.ts there is no
 * counter: the sum is read from the stored rows. Each transaction counts with the most that it offered for its gas.
 *
 * @module
 */

import type { SignedTransaction } from '../chain/transaction-signer.ts';
import { lockName } from '../database/lock-name.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import {
  assertGasLeft,
  chargePerNonce,
  computeUnsentGas,
  type GasCharge,
  windowStart,
} from './gas-budget.ts';

/** Ten employers who use up their gas, and all spends of holders, at 1 gwei. */
export const defaultDailyWei = 2n * 10n ** 18n;

/** Of a total. From here on the log and the health warn. */
const nearShare = 0.8;

export type RelayerTotal = {
  readonly dailyWei: bigint;
  /** What a transaction would offer now per unit of gas. Undefined: not known yet; the check before signing still holds. */
  readonly feeWei: bigint | undefined;
};

/** In gwei, so that sums stay exact numbers. */
export type TotalUse = { readonly usedGwei: number; readonly dailyGwei: number };

type TotalQuestion = {
  readonly chain: string;
  /** Gas of the intent to be accepted. */
  readonly neededGas: number;
  /** The row of the same key that the new one replaces or retries. */
  readonly instead: {
    readonly settlement?: number | undefined;
    readonly spend?: number | undefined;
  };
};

/**
 * Must run in the transaction that stores the row: intents of one chain are counted one after the other.
 * @throws PoolError `gas_budget_exceeded` (429) with `retryAfterSeconds`
 */
export async function assertTotalLeft(
  trx: PlatformDatabase,
  { chain, neededGas, instead }: TotalQuestion,
  { dailyWei, feeWei = 0n }: RelayerTotal,
  nowMs: number,
): Promise<void> {
  await lockName(trx, `coin of the relayer on ${chain}`);
  const reserved = await selectReservedGas(trx, chain, instead, nowMs);
  assertGasLeft(
    {
      charges: await selectCosts(trx, chain, feeWei, nowMs),
      outstanding: toGwei(reserved, feeWei),
      needed: toGwei(neededGas, feeWei),
      dailyGas: toGwei(1, dailyWei),
      nowMs,
    },
    describeTotal('not accepted now'),
  );
}

/**
 * The last check before a transaction is stored and sent: fees may have risen since its intent was accepted.
 * @throws PoolError `gas_budget_exceeded`
 */
export async function assertMaySign(
  trx: PlatformDatabase,
  chain: string,
  { gasLimit, maxFeePerGas }: SignedTransaction,
  dailyWei: bigint,
  nowMs: number,
): Promise<void> {
  assertGasLeft(
    {
      charges: await selectCosts(trx, chain, maxFeePerGas, nowMs),
      outstanding: 0,
      needed: toGwei(Number(gasLimit), maxFeePerGas),
      dailyGas: toGwei(1, dailyWei),
      nowMs,
    },
    describeTotal('not sent now'),
  );
}

/** What is used and reserved now. */
export async function readTotalUse(
  db: PlatformDatabase,
  chain: string,
  { dailyWei, feeWei = 0n }: RelayerTotal,
  nowMs: number,
): Promise<TotalUse> {
  const costs = await selectCosts(db, chain, feeWei, nowMs);
  const reserved = toGwei(await selectReservedGas(db, chain, {}, nowMs), feeWei);
  return {
    usedGwei: costs.reduce((sum, { gas }) => sum + gas, reserved),
    dailyGwei: toGwei(1, dailyWei),
  };
}

export function isNearTotal({ usedGwei, dailyGwei }: TotalUse): boolean {
  return usedGwei >= dailyGwei * nearShare;
}

/** Costs of the transactions of 24 hours, in gwei. */
async function selectCosts(
  db: PlatformDatabase,
  chain: string,
  feeWei: bigint,
  nowMs: number,
): Promise<GasCharge[]> {
  const rows = await db
    .selectFrom('relayer_transactions')
    .select(['nonce', 'state', 'gas_limit', 'gas_used', 'max_fee_wei', 'created_at'])
    .where('chain', '=', chain)
    .where('state', '!=', 'dropped')
    .where('created_at', '>', windowStart(nowMs))
    .execute();
  return chargePerNonce(
    rows.map(({ max_fee_wei, gas_limit, gas_used, ...row }) => {
      const fee = max_fee_wei === null ? feeWei : BigInt(max_fee_wei);
      const cost = (gas: number | null) => (gas === null ? null : toGwei(gas, fee));
      return { ...row, gas_limit: cost(gas_limit), gas_used: cost(gas_used) };
    }),
  );
}

/** Gas of intents that is not sent yet: their calls, and the withdrawal of each settlement that can be withdrawn. */
async function selectReservedGas(
  db: PlatformDatabase,
  chain: string,
  instead: TotalQuestion['instead'],
  nowMs: number,
): Promise<number> {
  const now = Math.floor(nowMs / 1_000);
  const settlements = await db
    .selectFrom('settlements')
    .select(['id', 'state', 'void_signature', 'gas_reserved', 'error_code'])
    .where('chain', '=', chain)
    .where('state', '!=', 'settled')
    .where('superseded_at', 'is', null)
    .where('deadline', '>=', now)
    .execute();
  const spends = await db
    .selectFrom('spends')
    .select(['id', 'gas_reserved'])
    .where('chain', '=', chain)
    .where('state', '=', 'accepted')
    .where('superseded_at', 'is', null)
    .where('deadline', '>=', now)
    .execute();
  return [
    ...settlements.filter(({ id }) => id !== instead.settlement).map(computeUnsentGas),
    ...spends.filter(({ id }) => id !== instead.spend).map((row) => Number(row.gas_reserved)),
  ].reduce((sum, gas) => sum + gas, 0);
}

/** Rounded up. */
function toGwei(gas: number, weiPerGas: bigint): number {
  return Number((BigInt(gas) * weiPerGas + 999_999_999n) / 1_000_000_000n);
}

function describeTotal(what: string): string {
  return `${what}: the relayer has used the coin that it may spend on this chain in 24 hours (PLATFORM_RELAYER_DAILY_COIN); try again later, or ask the operator of the platform`;
}
