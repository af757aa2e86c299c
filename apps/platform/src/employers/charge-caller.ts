/**
 * Counts what an address of the network does within a day, stored, so that a restart does not forget it.
 *
 * @module
 */

import type { PlatformDatabase } from '@pool/database';
import { hashCredential } from '@pool/http-server';
import { sql } from 'kysely';

const windowMs = 86_400_000;

/**
 * One statement decides and counts, so that concurrent calls see each other. A throw rolls back the caller's transaction.
 * @param subject - the address, or what it did and the address; stored hashed
 * @param refuse - makes the error, from the seconds until the next free place
 */
export async function chargeCaller(
  trx: PlatformDatabase,
  subject: string,
  limit: number,
  nowMs: number,
  refuse: (retryAfterSeconds: number) => Error,
): Promise<void> {
  const callerHash = hashCredential(subject);
  const now = new Date(nowMs).toISOString();
  const over = new Date(nowMs - windowMs).toISOString();
  await trx.deleteFrom('enrolment_windows').where('began_at', '<=', over).execute();
  const { rows } = await sql<{ enrolments: number }>`
    insert into enrolment_windows (caller, began_at, enrolments) values (${callerHash}, ${now}, 1)
    on conflict (caller) do update set enrolments = enrolment_windows.enrolments + 1
      where enrolment_windows.enrolments < ${limit}
    returning enrolments`.execute(trx);
  if (rows.length > 0) {
    return;
  }
  const { began_at } = await trx
    .selectFrom('enrolment_windows')
    .select('began_at')
    .where('caller', '=', callerHash)
    .executeTakeFirstOrThrow();
  const endsInMs = Date.parse(began_at) + windowMs - nowMs;
  throw refuse(Math.max(1, Math.ceil(endsInMs / 1000)));
}
