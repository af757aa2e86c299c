/**
 * Limits of a new spend (docs/decisions/0036, §8): its deadline must be near, and its holder must have gas left. There is no
 * counter, as for employers (gas-budget.ts): the sum is read from the rows. They do not apply to replays.
 *
 * @module
 */
import type { SpendCircuit } from '@pool/core';
import { computeSpendGasCeiling } from '../chain/gas-ceilings.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { assertGasLeft, chargePerNonce, windowStart } from './gas-budget.ts';

/** Agents sign for 15 minutes, rounded up to a quarter of an hour; the rest is for clocks that differ. */
export const spendSeconds = 3_600;

/** 41 withdrawals of 2 inputs, or 25 transfers of 16; 21 of the small ones may wait at once. */
export const defaultHolderDailyGas = 20_000_000;

export type SpendLimits = {
  /** Gas of a chain's relayer that one holder may take in 24 hours. */
  readonly dailyGas: number;
  /** How far ahead a deadline may lie. */
  readonly deadlineSeconds: number;
};

export const defaultSpendLimits: SpendLimits = {
  dailyGas: defaultHolderDailyGas,
  deadlineSeconds: spendSeconds,
};

/**
 * Must run in the transaction that stores the row: spends of one holder are counted one after the other.
 * @param instead - row of the same key that this one follows or retries
 * @returns gas to store with the row
 * @throws PoolError `gas_budget_exceeded` (429, retryable)
 */
export async function reserveSpendGas(
  trx: PlatformDatabase,
  holder: string,
  { chain, circuit }: { readonly chain: string; readonly circuit: SpendCircuit },
  instead: number | undefined,
  { dailyGas }: SpendLimits,
  nowMs: number,
): Promise<number> {
  await trx
    .selectFrom('employers')
    .select('id')
    .where('address', '=', holder)
    .forUpdate()
    .executeTakeFirst();
  const sent = await trx
    .selectFrom('relayer_transactions as t')
    .innerJoin('spends as s', 's.id', 't.spend_id')
    .select(['t.nonce', 't.state', 't.gas_limit', 't.gas_used', 't.created_at'])
    .where('s.address', '=', holder)
    .where('t.chain', '=', chain)
    .where('t.state', '!=', 'dropped')
    .where('t.created_at', '>', windowStart(nowMs))
    .execute();
  const waiting = await trx
    .selectFrom('spends')
    .select(['id', 'gas_reserved'])
    .where('address', '=', holder)
    .where('chain', '=', chain)
    .where('state', '=', 'accepted')
    .where('superseded_at', 'is', null)
    .where('deadline', '>=', Math.floor(nowMs / 1_000))
    .execute();
  const needed = Number(computeSpendGasCeiling(circuit));
  assertGasLeft(
    {
      charges: chargePerNonce(sent),
      outstanding: waiting
        .filter(({ id }) => id !== instead)
        .reduce((sum, row) => sum + Number(row.gas_reserved), 0),
      needed,
      dailyGas,
      nowMs,
    },
    `spend not accepted now: this holder has used its ${dailyGas} gas for 24 hours on this chain; try again later, or send the transaction with a wallet of your own: anybody may call the pool's spend`,
  );
  return needed;
}
