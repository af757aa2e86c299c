/**
 * Limits of a new settlement (docs/decisions/0009): its authorisation must expire soon, and its employer must have gas
 * left. They do not apply to replays, which are answered from the stored row.
 *
 * @module
 */
import type { SettlementRequest } from '@pool/api';
import { voidGasCeiling } from '@pool/contracts';
import { PoolError } from '@pool/core';
import { lockEmployer, type PlatformDatabase } from '@pool/database';
import { askChain } from '@pool/evm-sender';
import type { PoolChain } from '../chain/pool-chain.ts';
import {
  assertWithinBudget,
  computeReserve,
  defaultEmployerDailyGas,
  defaultSelfEnrolledDailyGas,
  type GasBudgets,
  isCustomer,
} from './gas-budget.ts';
import { assertTotalLeft, type RelayerTotal } from './relayer-total.ts';

/** Agents sign for 60 minutes, rounded up to 15; the rest is for clocks that differ. */
export const authorisationSeconds = 7_200;

export type SettlementLimits = GasBudgets & {
  /** How far ahead a deadline may lie. */
  readonly deadlineSeconds: number;
  /** What the relayer of a chain may spend for everybody together. Absent: no limit, in tests only. */
  readonly totalOf?: (chain: string) => RelayerTotal;
};

export const defaultSettlementLimits: SettlementLimits = {
  dailyGas: defaultEmployerDailyGas,
  selfEnrolledDailyGas: defaultSelfEnrolledDailyGas,
  deadlineSeconds: authorisationSeconds,
};

/**
 * Reads the chain only when the deadline is too far by our own clock: the chain's clock may be ahead.
 * @throws PoolError `deadline_too_far` (400), `chain_unreachable` (503)
 */
export async function assertDeadline(
  chain: PoolChain,
  deadline: number,
  { deadlineSeconds }: Pick<SettlementLimits, 'deadlineSeconds'>,
  nowMs: number,
  what: 'settlement' | 'spend' = 'settlement',
): Promise<void> {
  if (deadline <= nowMs / 1_000 + deadlineSeconds) {
    return;
  }
  if (deadline > (await askChain(() => chain.fetchHeadTimestamp())) + deadlineSeconds) {
    throw new PoolError(
      'deadline_too_far',
      `${what} refused: its deadline lies more than ${deadlineSeconds} seconds ahead, the most that this platform accepts; sign for less time (${agentVariables[what]} of the agent), or have its operator raise PLATFORM_VOTE_LIMIT_SECONDS`,
    );
  }
}

/** What the deadline of a settlement or a spend follows from. */
const agentVariables = {
  settlement: 'DISBURSE_VOTE_LIMIT_SECONDS, DISBURSE_BATCH_DEADLINE_SECONDS',
  spend: 'DISBURSE_HOLDER_VOTE_LIMIT_SECONDS',
} as const;

/**
 * Must run in the transaction that stores the row: settlements of one employer are counted one after the other.
 * @param instead - row of the same key that this one follows or retries
 * @returns gas to store with the row
 * @throws PoolError `gas_budget_exceeded` (429, retryable)
 */
export async function reserveGas(
  trx: PlatformDatabase,
  employerId: string,
  { chain, batch }: Pick<SettlementRequest, 'chain' | 'batch'>,
  instead: number | undefined,
  limits: SettlementLimits,
  nowMs: number,
): Promise<number> {
  await lockEmployer(trx, employerId);
  const size = batch.commitments.length;
  await assertWithinBudget(trx, { employerId, chain, size, instead }, limits, nowMs);
  const total = limits.totalOf?.(chain);
  if (total !== undefined) {
    const neededGas = computeReserve(size) + Number(voidGasCeiling);
    const question = {
      ...{ chain, neededGas, instead },
      isCustomer: await isCustomer(trx, employerId),
    };
    await assertTotalLeft(trx, question, total, nowMs);
  }
  return computeReserve(size);
}
