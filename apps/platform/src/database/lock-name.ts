/**
 * A lock on a name, for what no row stands for: a count that must not be passed, say.
 *
 * @module
 */
import { type QueryExecutorProvider, sql } from 'kysely';

/** Apart from the process's own lock, which has another first number. */
const lockClass = 0x6e61_6d65;

/** Waits until no other transaction holds the name, and holds it until this one ends. */
export async function lockName(trx: QueryExecutorProvider, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockClass}, hashtext(${name}))`.execute(trx);
}
