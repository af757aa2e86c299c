/**
 * Limits of a new spend (docs/decisions/0006; 0011): its deadline must be near, and gas must be left for its holder and for all
 * holders together. There is no counter, as for employers (gas-budget.ts): the sums are read from the rows. They do not apply to
 * replays.
 *
 * @module
 */

import { computeSpendGasCeiling } from '@pool/contracts';
import type { SpendCircuit } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { lockName } from '@pool/database';
import { assertGasLeft, selectUse } from './gas-budget.ts';
import { assertTotalLeft, type RelayerTotal } from './relayer-total.ts';

/** Agents sign for 15 minutes, rounded up to a quarter of an hour; the rest is for clocks that differ. */
export const spendSeconds = 3_600;

/** 41 withdrawals of 2 inputs, or 25 transfers of 16; 21 of the small ones may wait at once. */
export const defaultHolderDailyGas = 20_000_000;

/** About 1,000 spends in a day; at 1 gwei half of the chain's coin. */
export const defaultSpendsDailyGas = 500_000_000;

export type SpendLimits = {
  /** Gas of a chain's relayer that one holder may take in 24 hours. */
  readonly dailyGas: number;
  /** Gas of a chain's relayer that all holders together may take in 24 hours. */
  readonly dailyGasOfAll: number;
  /** How far ahead a deadline may lie. */
  readonly deadlineSeconds: number;
  /** As for settlements. */
  readonly totalOf?: (chain: string) => RelayerTotal;
};

export const defaultSpendLimits: SpendLimits = {
  dailyGas: defaultHolderDailyGas,
  dailyGasOfAll: defaultSpendsDailyGas,
  deadlineSeconds: spendSeconds,
};

type GasQuestion = { readonly chain: string; readonly circuit: SpendCircuit };

/**
 * Must run in the transaction that stores the row: spends of one chain are counted one after the other.
 * @param instead - row of the same key that this one follows or retries
 * @returns gas to store with the row
 * @throws PoolError `gas_budget_exceeded` (429, retryable)
 */
export async function reserveSpendGas(
  trx: PlatformDatabase,
  holder: string,
  { chain, circuit }: GasQuestion,
  instead: number | undefined,
  { dailyGas, dailyGasOfAll, totalOf }: SpendLimits,
  nowMs: number,
): Promise<number> {
  await lockName(trx, `gas of spends on ${chain}`);
  const needed = Number(computeSpendGasCeiling(circuit));
  const spends = { chain, kind: 'spend', instead } as const;
  const own = await selectUse(trx, { ...spends, owner: holder }, nowMs);
  assertGasLeft(
    { ...own, needed, dailyGas, nowMs },
    `spend not accepted now: this holder has used its ${dailyGas} gas for 24 hours on this chain; try again later, ${withoutRelayer}`,
  );
  const all = await selectUse(trx, spends, nowMs);
  assertGasLeft(
    { ...all, needed, dailyGas: dailyGasOfAll, nowMs },
    `spend not accepted now: all holders together have used the ${dailyGasOfAll} gas that the relayer has for spends in 24 hours on this chain (PLATFORM_SPENDS_DAILY_GAS); try again later, ${withoutRelayer}`,
  );
  const total = totalOf?.(chain);
  if (total !== undefined) {
    const question = { chain, neededGas: needed, instead, isCustomer: false };
    await assertTotalLeft(trx, question, total, nowMs);
  }
  return needed;
}

const withoutRelayer =
  'or withdraw with `disburse-agent send --self-submit`: anybody may call the spend of the pool';
