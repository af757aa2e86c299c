/**
 * Admission decides whether a wallet that is not on the eligibility list may take a leaf of its tree (decision 6).
 * The transaction that stores the wallet charges it for a place, once, until the operator removes that wallet. It is admitted
 * when the gate puts it on the list.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { chargeCaller } from './charge-caller.ts';
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

/**
 * Charges a wallet for its place, or throws. A throw rolls back the caller's transaction.
 * @param caller - the address that the request came from
 * @throws PoolError `not_invited` (403), `rate_limited` (429)
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
  const { enrolmentsPerAddress: limit } = admission;
  await chargeCaller(trx, caller, limit, nowMs(), (retryAfterSeconds) => {
    return new PoolError(
      'rate_limited',
      `${limit} wallets were enrolled from this address within a day; try again later, or from another network`,
      { details: { retryAfterSeconds } },
    );
  });
}
