/**
 * How much of a relayer's gas one employer or holder may use in 24 hours (docs/decisions/0009). There is no counter: the sum is read
 * from the rows of submissions and transactions, so a retry, a restart or a crash cannot count twice or forget.
 *
 * A settlement counts with all gas that it can still cost, its withdrawal included, and with the gas it used once that is
 * final. So the budget never refuses a withdrawal: its gas is reserved when its settlement is accepted.
 *
 * @module
 */

import { computeFundGasCeiling, voidGasCeiling } from '@pool/contracts';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { lockName } from '@pool/database';
import { sql } from 'kysely';
import type { RelayerTransaction, SubmissionRow } from '../store/submissions.ts';

/**
 * 150 batches of 256 slots: 38,400 people paid by one employer in a day, at 1 gwei for a tenth of the chain's coin. At most
 * 28 accepted ones wait at once, each with all that a hostile contract could make of it.
 */
export const defaultEmployerDailyGas = 100_000_000;

/** One batch at a time, and two or three small ones in a day. */
export const defaultSelfEnrolledDailyGas = 4_000_000;

const windowMs = 86_400_000;

/** How soon the gas of settlements under way may be known. */
const underWaySeconds = 60;

/** Gas that sent transactions used or can still use. */
export type GasCharge = { readonly atMs: number; readonly gas: number };

/** Whose rows are counted. */
type Counted = {
  readonly chain: string;
  /** Default: both. */
  readonly kind?: SubmissionRow['kind'];
  /** An employer or a holder. Default: all. */
  readonly owner?: string;
  /** Only settlements of employers without a live edge token of the operator. */
  readonly isWithoutToken?: true;
  /** Row of the same key that the new one replaces or retries: it does not count. */
  readonly instead?: number | undefined;
};

type BudgetQuestion = {
  readonly employerId: string;
  readonly chain: string;
  /** Slots of the batch to be accepted. */
  readonly size: number;
  readonly instead: number | undefined;
};

/** Gas that the `fund()` of a batch may use. The withdrawal comes on top. */
export function computeReserve(size: number): number {
  return Number(computeFundGasCeiling(size));
}

export type GasBudgets = {
  /** Gas of a chain's relayer that one employer may take in 24 hours. */
  readonly dailyGas: number;
  /** The same for an employer without a live edge token of the operator. All of them together may take `dailyGas`. */
  readonly selfEnrolledDailyGas: number;
};

/** Must run in the transaction that stores the row. @throws PoolError `gas_budget_exceeded` (429) with `retryAfterSeconds` */
export async function assertWithinBudget(
  db: PlatformDatabase,
  { employerId, chain, size, instead }: BudgetQuestion,
  { dailyGas, selfEnrolledDailyGas }: GasBudgets,
  nowMs: number,
): Promise<void> {
  const settlements = { chain, kind: 'settlement', instead } as const;
  const needed = computeReserve(size) + Number(voidGasCeiling);
  const assertGasOf = async (counted: Counted, limit: number, reason: string) =>
    assertGasLeft(
      { ...(await selectUse(db, counted, nowMs)), needed, dailyGas: limit, nowMs },
      `settlement not accepted now: ${reason}`,
    );
  const own = { ...settlements, owner: employerId };
  if (await isCustomer(db, employerId)) {
    await assertGasOf(
      own,
      dailyGas,
      `this employer has used its ${dailyGas} gas for 24 hours on this chain; the agent tries again later, or the operator of the platform raises PLATFORM_EMPLOYER_DAILY_GAS`,
    );
    return;
  }
  // An account costs nothing: without a limit for all of them together, many accounts take what one must not take.
  await lockName(db, `gas of self-enrolled employers on ${chain}`);
  await assertGasOf(
    own,
    selfEnrolledDailyGas,
    `an employer to which the operator issued no edge token has ${selfEnrolledDailyGas} gas for 24 hours on this chain (PLATFORM_SELF_ENROLLED_DAILY_GAS), and this one needs more; ask the operator of the platform for an edge token`,
  );
  await assertGasOf(
    { ...settlements, isWithoutToken: true },
    dailyGas,
    `all employers to which the operator issued no edge token have used their ${dailyGas} gas for 24 hours on this chain (PLATFORM_EMPLOYER_DAILY_GAS); ask the operator of the platform for an edge token`,
  );
}

/** Whether the operator issued the employer an edge token that is not revoked. */
export async function isCustomer(db: PlatformDatabase, employerId: string): Promise<boolean> {
  const token = await db
    .selectFrom('edge_tokens')
    .select('id')
    .where('employer_id', '=', employerId)
    .where('issued_by', '=', 'operator')
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return token !== undefined;
}

/** Gas of one owner, an employer or a holder, in 24 hours. */
type GasState = {
  readonly charges: readonly GasCharge[];
  /** Gas that unsent transactions can still use. */
  readonly outstanding: number;
  /** Requested gas. */
  readonly needed: number;
  readonly dailyGas: number;
  readonly nowMs: number;
};

/** @throws PoolError `gas_budget_exceeded` (429) with `retryAfterSeconds` */
export function assertGasLeft(state: GasState, message: string): void {
  const waitSeconds = decideWait(state);
  if (waitSeconds !== undefined) {
    throw new PoolError('gas_budget_exceeded', message, {
      details: { retryAfterSeconds: waitSeconds },
    });
  }
}

/** @returns seconds to wait; undefined: it fits now */
function decideWait({
  charges,
  outstanding,
  needed,
  dailyGas,
  nowMs,
}: GasState): number | undefined {
  const charged = charges.reduce((sum, { gas }) => sum + gas, 0);
  if (charged + outstanding + needed <= dailyGas) {
    return undefined;
  }
  // What is under way uses less than reserved or ends, and the rest is free again soon.
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

/** What is used, and can still be used, of the gas of 24 hours. */
export async function selectUse(db: PlatformDatabase, counted: Counted, nowMs: number) {
  const unsent = await selectUnsent(db, counted, nowMs);
  return {
    charges: chargePerNonce(await selectSent(db, counted, nowMs)),
    outstanding: unsent.reduce((sum, { gas }) => sum + gas, 0),
  };
}

/** True for a holder, and for an employer without a live edge token of the operator. */
const isOther = sql<boolean>`not exists (select 1 from edge_tokens where edge_tokens.employer_id = s.employer_id
  and edge_tokens.issued_by = 'operator' and edge_tokens.revoked_at is null)`;

/** Transactions of the last 24 hours. */
export async function selectSent(
  db: PlatformDatabase,
  { chain, kind, owner, isWithoutToken }: Counted,
  nowMs: number,
) {
  return await db
    .selectFrom('relayer_transactions as t')
    .innerJoin('submissions as s', 's.id', 't.submission_id')
    .select(['t.sender', 't.nonce', 't.state', 't.gas_limit', 't.gas_used', 't.max_fee_wei'])
    .select(['t.created_at', isOther.as('others')])
    .$if(kind !== undefined, (query) => query.where('s.kind', '=', kind ?? 'spend'))
    .$if(owner !== undefined, (query) => query.where('s.owner', '=', owner ?? ''))
    .$if(isWithoutToken === true, (query) => query.where(isOther))
    .where('t.chain', '=', chain)
    .where('t.state', '!=', 'dropped')
    .where('t.created_at', '>', new Date(nowMs - windowMs).toISOString())
    .execute();
}

/** Gas that is not sent yet, per row. */
export async function selectUnsent(
  db: PlatformDatabase,
  { chain, kind, owner, isWithoutToken, instead }: Counted,
  nowMs: number,
) {
  const rows = await db
    .selectFrom('submissions as s')
    .select(['id', 'kind', 'state', 'void_signature', 'gas_reserved', 'error_code'])
    .select(isOther.as('others'))
    .$if(kind !== undefined, (query) => query.where('s.kind', '=', kind ?? 'spend'))
    .$if(owner !== undefined, (query) => query.where('s.owner', '=', owner ?? ''))
    .$if(isWithoutToken === true, (query) => query.where(isOther))
    .where('chain', '=', chain)
    .where('state', '!=', 'settled')
    .where('superseded_at', 'is', null)
    .where('deadline', '>=', Math.floor(nowMs / 1_000))
    .execute();
  return rows
    .filter(({ id }) => id !== instead)
    .map((row) => ({ others: row.others, gas: computeUnsentGas(row) }));
}

type SentRow = Pick<
  RelayerTransaction,
  'sender' | 'nonce' | 'state' | 'gas_limit' | 'gas_used' | 'created_at'
>;

/** One charge per nonce of an account: the chain executes one of its transactions. */
export function chargePerNonce(rows: readonly SentRow[]): GasCharge[] {
  const charges = new Map<string, GasCharge>();
  for (const row of rows) {
    const gas = Number((row.state === 'open' ? row.gas_limit : row.gas_used) ?? row.gas_limit ?? 0);
    const nonce = `${row.sender} ${row.nonce}`;
    const other = charges.get(nonce);
    if (other === undefined || other.gas < gas) {
      charges.set(nonce, { gas, atMs: Date.parse(row.created_at) });
    }
  }
  return [...charges.values()];
}

type UnsettledRow = Pick<
  SubmissionRow,
  'kind' | 'state' | 'void_signature' | 'gas_reserved' | 'error_code'
>;

/**
 * Gas that a row which is not settled can still take besides its sent transactions: the call of an accepted row, and the withdrawal of
 * each settlement that can be withdrawn.
 */
function computeUnsentGas(row: UnsettledRow): number {
  if (row.error_code === 'batch_voided') {
    return 0;
  }
  const isToSend = row.state === 'accepted' && row.void_signature === null;
  const withdrawal = row.kind === 'settlement' ? Number(voidGasCeiling) : 0;
  return (isToSend ? Number(row.gas_reserved) : 0) + withdrawal;
}
