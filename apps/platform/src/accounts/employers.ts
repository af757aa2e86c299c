/**
 * Employer accounts: one a wallet, opened by the wallet's own session.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type EvmAddress, PoolError } from '@pool/core';
import type { PlatformDatabase } from '../database/platform-tables.ts';

export type Employer = { readonly id: string; readonly address: EvmAddress };

/**
 * Opens the account of a wallet, or finds it.
 * The id is a random UUID that chain observers never see: batch nonces are derived from it (protocol §3).
 */
export async function registerEmployer(
  db: PlatformDatabase,
  address: EvmAddress,
  name: string | undefined,
  nowMs: number,
): Promise<{ readonly employer: Employer; readonly created: boolean }> {
  const inserted = await db
    .insertInto('employers')
    .values({
      id: randomUUID(),
      address,
      name: name ?? null,
      created_at: new Date(nowMs).toISOString(),
    })
    .onConflict((conflict) => conflict.column('address').doNothing())
    .returning(['id', 'address'])
    .executeTakeFirst();
  return inserted === undefined
    ? { employer: await getEmployer(db, address), created: false }
    : { employer: inserted, created: true };
}

/** @throws PoolError `employer_not_found` (409) */
export async function getEmployer(db: PlatformDatabase, address: EvmAddress): Promise<Employer> {
  const employer = await db
    .selectFrom('employers')
    .select(['id', 'address'])
    .where('address', '=', address)
    .executeTakeFirst();
  if (employer === undefined) {
    throw new PoolError(
      'employer_not_found',
      'this wallet has no employer account: POST /api/employers/register first',
      { status: 409 },
    );
  }
  return employer;
}
