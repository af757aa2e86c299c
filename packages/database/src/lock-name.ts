/**
 * Locks for rules that no single row represents, such as a limit on a count.
 *
 * @module
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { PlatformDatabase } from './platform-tables.ts';

/** Differs from the first number of the process's own lock. */
const lockClass = 0x6e61_6d65;

/** Waits until no other transaction holds the name, and holds it until this one ends. */
export async function lockName(trx: QueryExecutorProvider, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockClass}, hashtext(${name}))`.execute(trx);
}

/** Calls of one employer run one after the other: two at once would both find room for its last key, token or wallet. */
export async function lockEmployer(trx: PlatformDatabase, id: string): Promise<void> {
  await trx.selectFrom('employers').select('id').where('id', '=', id).forUpdate().execute();
}
