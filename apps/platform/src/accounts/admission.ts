/**
 * Admission decides whether a wallet that is not on the eligibility list may take a leaf of its tree (decision 31).
 * The transaction that stores the wallet charges it for a place, once, until the operator removes that wallet. It is admitted
 * when the gate puts it on the list.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { sql } from 'kysely';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { hashCredential } from './credential.ts';
import { claimInvitation } from './invitations.ts';

export type AdmissionConfig = {
  /**
   * `required`: an employer has invited the wallet. `screened`: the operator says that the gate's own list names
   * who may enrol. `off`: anybody, for development.
   */
  readonly invitations: 'off' | 'required' | 'screened';
  /** Wallets that may enrol from one address within a day. */
  readonly enrolmentsPerAddress: number;
  /** Wallets that an employer may have invited and enrolled at once, unless the operator gave it a limit of its own. */
  readonly walletsPerEmployer: number;
  /** Days after which an unused invitation ends. */
  readonly invitationDays: number;
};

export type AdmissionDeps = {
  readonly admission: AdmissionConfig;
  readonly nowMs: () => number;
};

const windowMs = 86_400_000;

/** Whether the gate put the wallet on the list, and neither the gate nor the operator has taken it off since. */
export async function isAdmitted(db: PlatformDatabase, address: string): Promise<boolean> {
  const subject = await db
    .selectFrom('subjects')
    .select('admitted_at')
    .where('address', '=', address)
    .executeTakeFirst();
  return (subject?.admitted_at ?? null) !== null;
}

/**
 * Charges a wallet for its place, or throws. A throw rolls back the caller's transaction.
 * @param caller - the address that the request came from
 * @throws PoolError `not_invited` (403), `too_many_enrolments` (429)
 */
export async function claimPlace(
  trx: PlatformDatabase,
  { admission, nowMs }: AdmissionDeps,
  address: string,
  caller: string,
): Promise<void> {
  if (admission.invitations === 'required') {
    await claimInvitation(trx, admission, address, nowMs());
  }
  await chargeCaller(trx, admission, caller, nowMs());
}

// One statement decides and counts, so that concurrent calls see each other. The count is stored, so it survives a restart.
async function chargeCaller(
  trx: PlatformDatabase,
  { enrolmentsPerAddress }: AdmissionConfig,
  caller: string,
  nowMs: number,
): Promise<void> {
  const callerHash = hashCredential(caller);
  const now = new Date(nowMs).toISOString();
  const over = new Date(nowMs - windowMs).toISOString();
  await trx.deleteFrom('enrolment_windows').where('began_at', '<=', over).execute();
  const { rows } = await sql<{ enrolments: number }>`
    insert into enrolment_windows (caller, began_at, enrolments) values (${callerHash}, ${now}, 1)
    on conflict (caller) do update set enrolments = enrolment_windows.enrolments + 1
      where enrolment_windows.enrolments < ${enrolmentsPerAddress}
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
  throw new PoolError(
    'too_many_enrolments',
    `${enrolmentsPerAddress} wallets were enrolled from this address within a day; try again later, or from another network`,
    { details: { retryAfterSeconds: Math.max(1, Math.ceil(endsInMs / 1000)) } },
  );
}
