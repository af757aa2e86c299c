/**
 * How much of a relayer's gas one employer or holder may use in 24 hours (docs/decisions/0009). There is no counter: the sum is read
 * from the rows of submissions and transactions, so a retry, a restart or a crash cannot count twice or forget.
 *
 * A settlement counts with all gas that it can still cost, its withdrawal included, and with the gas it used once that is
 * final. So the budget never refuses a withdrawal: its gas is reserved when its settlement is accepted.
 *
 * @module
 */

import { voidGasCeiling } from '@pool/contracts';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { sql } from 'kysely';
import type { RelayerTransaction, SubmissionRow } from '../store/submissions.ts';

const windowMs = 86_400_000;

/** How soon the gas of settlements under way may be known. */
const underWaySeconds = 60;

/** Gas that sent transactions used or can still use. */
export type GasCharge = { readonly atMs: number; readonly gas: number };

/** Whose rows are counted. */
export type Counted = {
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

/** Whether the operator issued the employer an edge token that is not revoked. */
export async function isCustomer(db: PlatformDatabase, employerId: string): Promise<boolean> {
  const token = await db
    .selectFrom('credentials')
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
const isOther = sql<boolean>`not exists (select 1 from credentials c where c.employer_id = s.employer_id
  and c.issued_by = 'operator' and c.revoked_at is null)`;

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
