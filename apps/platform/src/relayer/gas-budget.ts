/**
 * What one employer may take of a relayer's gas in 24 hours (docs/decisions/0027). Nothing is counted up: it is read from
 * the rows of settlements and transactions, so a retry, a restart or a crash cannot count twice or forget.
 *
 * A settlement counts with everything that it can still cost, its withdrawal included, and with what was used once that is
 * final. So a withdrawal is never refused for the budget: its gas was set aside when its settlement was accepted.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { computeFundGasCeiling, voidGasCeiling } from '../chain/gas-ceilings.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';

/**
 * 150 batches of 256 slots: 38,400 people paid by one employer in a day, at 1 gwei for a tenth of the chain's coin. At most
 * 28 accepted ones wait at once, each with all that a hostile contract could make of it.
 */
export const defaultEmployerDailyGas = 100_000_000;

const windowMs = 86_400_000;

/** How soon settlements that are under way may have told what they took. */
const underWaySeconds = 60;

/** Gas that was used or may be used yet by what is sent. */
type GasCharge = { readonly atMs: number; readonly gas: number };

type BudgetQuestion = {
  readonly employerId: string;
  readonly chain: string;
  /** Slots of the batch to be accepted. */
  readonly size: number;
  /** Row of the same key that the new one takes the place of, or takes up again. */
  readonly instead: number | undefined;
};

/** What the `fund()` of a batch may take. The withdrawal comes on top. */
export function computeReserve(size: number): number {
  return Number(computeFundGasCeiling(size));
}

/** @throws PoolError `gas_budget_exceeded` (429) with `retryAfterSeconds` */
export async function assertWithinBudget(
  db: PlatformDatabase,
  question: BudgetQuestion,
  dailyGas: number,
  nowMs: number,
): Promise<void> {
  const charges = await selectCharges(db, question, nowMs);
  const outstanding = await selectOutstanding(db, question, nowMs);
  const needed = computeReserve(question.size) + Number(voidGasCeiling);
  const waitSeconds = decideWait(charges, outstanding, needed, dailyGas, nowMs);
  if (waitSeconds !== undefined) {
    throw new PoolError(
      'gas_budget_exceeded',
      `settlement not taken now: this employer has used up the ${dailyGas} gas that this platform gives it in 24 hours on this chain; it is tried again, or its operator raises PLATFORM_EMPLOYER_DAILY_GAS`,
      { details: { retryAfterSeconds: waitSeconds } },
    );
  }
}

/**
 * @param outstanding - gas that may be used yet by what is not sent
 * @param needed - gas that is asked for
 * @returns seconds to wait; undefined: it fits now
 */
function decideWait(
  charges: readonly GasCharge[],
  outstanding: number,
  needed: number,
  dailyGas: number,
  nowMs: number,
): number | undefined {
  const charged = charges.reduce((sum, { gas }) => sum + gas, 0);
  if (charged + outstanding + needed <= dailyGas) {
    return undefined;
  }
  // What is under way takes less in the end, or ends: the rest comes back soon.
  let over = charged + needed - dailyGas;
  for (const { atMs, gas } of charges.toSorted((a, b) => a.atMs - b.atMs)) {
    if (over <= 0) {
      break;
    }
    over -= gas;
    if (over <= 0) {
      return Math.max(underWaySeconds, Math.ceil((atMs + windowMs - nowMs) / 1_000));
    }
  }
  return underWaySeconds;
}

/** Transactions of the last 24 hours: of each nonce what was mined, or the most that can be. */
async function selectCharges(
  db: PlatformDatabase,
  { employerId, chain }: BudgetQuestion,
  nowMs: number,
): Promise<GasCharge[]> {
  const rows = await db
    .selectFrom('relayer_transactions as t')
    .innerJoin('settlements as s', 's.id', 't.settlement_id')
    .select(['t.nonce', 't.state', 't.gas_limit', 't.gas_used', 't.created_at'])
    .where('s.employer_id', '=', employerId)
    .where('t.chain', '=', chain)
    .where('t.state', '!=', 'dropped')
    .where('t.created_at', '>', new Date(nowMs - windowMs).toISOString())
    .execute();
  const charges = new Map<number, GasCharge>();
  for (const row of rows) {
    const gas = Number((row.state === 'open' ? row.gas_limit : row.gas_used) ?? row.gas_limit ?? 0);
    const other = charges.get(row.nonce);
    if (other === undefined || other.gas < gas) {
      charges.set(row.nonce, { gas, atMs: Date.parse(row.created_at) });
    }
  }
  return [...charges.values()];
}

/** What rows may still cost that has not been sent: an accepted one its `fund()`, each that can be withdrawn that. */
async function selectOutstanding(
  db: PlatformDatabase,
  { employerId, chain, instead }: BudgetQuestion,
  nowMs: number,
): Promise<number> {
  const rows = await db
    .selectFrom('settlements')
    .select(['id', 'state', 'void_signature', 'gas_reserved', 'error_code'])
    .where('employer_id', '=', employerId)
    .where('chain', '=', chain)
    .where('state', '!=', 'settled')
    .where('superseded_at', 'is', null)
    .where('deadline', '>=', Math.floor(nowMs / 1_000))
    .execute();
  return rows
    .filter(({ id, error_code }) => id !== instead && error_code !== 'batch_voided')
    .reduce((sum, row) => {
      const willFund = row.state === 'accepted' && row.void_signature === null;
      return sum + (willFund ? Number(row.gas_reserved) : 0) + Number(voidGasCeiling);
    }, 0);
}
