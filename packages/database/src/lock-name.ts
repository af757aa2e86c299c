/**
 * A lock on a name, for a rule that no single row represents, such as a limit on a count.
 *
 * @module
 */
import { type QueryExecutorProvider, sql } from 'kysely';

/** Differs from the first number of the process's own lock. */
const lockClass = 0x6e61_6d65;

/** Waits until no other transaction holds the name, and holds it until this one ends. */
export async function lockName(trx: QueryExecutorProvider, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockClass}, hashtext(${name}))`.execute(trx);
}
