/**
 * Enrolment: a wallet becomes a pool subject with its W and P (docs/decisions/0010).
 * With the stored sign-in text an agent can later check P without trusting the platform.
 *
 * @module
 */
import { encryptionKeyResourcePrefix, fieldToHex, PoolError, readSignInKey } from '@pool/core';
import type { PlatformDatabase, PlatformTables } from '@pool/database';
import type { Selectable } from 'kysely';
import type { KeySession } from '../auth/sessions.ts';
import { type AdmissionDeps, claimPlace } from '../employers/admission.ts';
import { getEmployer } from '../employers/employers.ts';
import { type ConfirmationDeps, confirmAtGate } from './gate-confirmation.ts';
import { rulesOf } from './wallet-rules.ts';

// The owner of an encryption key. The first wallet that registers a P owns it permanently, even after it rotates to
// another key: the platform serves notes by P alone, and a next owner would receive the notes of the previous one (docs/decisions/0006).

/**
 * Records the wallet as the owner of a key, or confirms that it is. Call it in the transaction that registers the key.
 * @throws PoolError `encryption_key_taken` (409)
 */
export async function claimEncryptionKey(
  trx: PlatformDatabase,
  address: string,
  encryptionPublicKey: string,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('encryption_keys')
    .values({
      encryption_public_key: encryptionPublicKey,
      address,
      created_at: new Date(nowMs).toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  if (!(await hasEncryptionKey(trx, address, encryptionPublicKey))) {
    throw encryptionKeyTaken();
  }
}

/** Whether the wallet owns the key, now or in the past. */
export async function hasEncryptionKey(
  db: PlatformDatabase,
  address: string,
  encryptionPublicKey: string,
): Promise<boolean> {
  const owned = await db
    .selectFrom('encryption_keys')
    .select('address')
    .where('encryption_public_key', '=', encryptionPublicKey)
    .where('address', '=', address)
    .executeTakeFirst();
  return owned !== undefined;
}

function encryptionKeyTaken(): PoolError {
  return new PoolError(
    'encryption_key_taken',
    'this encryption key belongs to another wallet on this platform; use the wallet that has it, ' +
      'or a viewing key of its own for this wallet',
  );
}

/**
 * The session's signed text must list the key: agents verify that text as evidence.
 * @throws PoolError `evidence_required` (409) naming the resource
 */
export function assertEvidence(session: KeySession, encryptionPublicKey: string): void {
  if (readSignInKey(session.evidence.message).encryptionPublicKey !== encryptionPublicKey) {
    throw new PoolError(
      'evidence_required',
      'sign in again with a message that lists the resource ' +
        `${encryptionKeyResourcePrefix}${encryptionPublicKey}`,
    );
  }
}

export type Subject = Selectable<PlatformTables['subjects']>;

export type EnrolmentDeps = ConfirmationDeps & AdmissionDeps;

export type Enrolled = { readonly subject: Subject; readonly created: boolean };

/**
 * Enrols the session's wallet; the same (W, P) again drives the gate again.
 * @param caller - the address that the request came from
 * @throws PoolError `wallet_mismatch`, `not_invited` (403), `use_rotate`, `evidence_required`,
 *   `encryption_key_taken`, `employer_not_found` (409), `rate_limited` (429), `tree_full` (503)
 */
export async function enrolHolder(
  given: EnrolmentDeps,
  session: KeySession,
  request: { readonly walletPub: string; readonly encryptionPublicKey: string },
  caller: string,
): Promise<Enrolled> {
  const { encryptionPublicKey } = request;
  const rules = rulesOf(session.address);
  // A wallet of a chain without a pool is never written to the gate, and takes no leaf. Its row is charged for like any other.
  const deps: EnrolmentDeps = rules.hasPool ? given : { ...given, gate: undefined };
  const isCharged = given.gate !== undefined;
  assertOwnWallet(session, request.walletPub);
  rules.assertKey(encryptionPublicKey);
  await getEmployer(deps.db, session);
  let created = false;
  if ((await findSubject(deps.db, session.address)) === undefined) {
    assertEvidence(session, encryptionPublicKey);
    created = await insertSubject(deps, isCharged, session, encryptionPublicKey, caller);
  }
  // Read after the insert: of two first enrolments at once, the one that came second sees the other's key.
  const known = await findSubject(deps.db, session.address);
  if (known === undefined) {
    throw encryptionKeyTaken();
  }
  if (known.encryption_public_key !== encryptionPublicKey) {
    throw new PoolError(
      'use_rotate',
      'this wallet is enrolled with another encryption key: ' +
        'POST /api/employers/holder/rotate-encryption-key changes it',
    );
  }
  if (isCharged && known.claimed_at === null) {
    await chargeKnown(deps, session.address, caller);
  }
  const confirmed = await confirmAtGate(deps, session.address);
  const subject = (await findSubject(deps.db, session.address)) ?? known;
  // A later write may have been answered first: then that answer counts.
  const readiness = confirmed === 'ready' ? subject.readiness : confirmed;
  const whitelistedAt = readiness === 'ready' ? subject.whitelisted_at : null;
  return { subject: { ...subject, readiness, whitelisted_at: whitelistedAt }, created };
}

/** @throws PoolError `invalid_wallet_pub` (400), `wallet_mismatch` (403) */
export function assertOwnWallet(session: KeySession, walletPub: string): void {
  if (rulesOf(session.address).addressOf(walletPub) !== session.address) {
    throw new PoolError(
      'wallet_mismatch',
      'walletPub is not the key of the wallet that signed in; sign in with that wallet',
    );
  }
}

export async function findSubject(
  db: PlatformDatabase,
  address: string,
): Promise<Subject | undefined> {
  return await db
    .selectFrom('subjects')
    .selectAll()
    .where('address', '=', address)
    .executeTakeFirst();
}

/** @returns false when the wallet, or the encryption key, has a subject already */
async function insertSubject(
  deps: EnrolmentDeps,
  isCharged: boolean,
  session: KeySession,
  encryptionPublicKey: string,
  caller: string,
): Promise<boolean> {
  const now = new Date(deps.nowMs()).toISOString();
  return await deps.db.transaction().execute(async (trx) => {
    const inserted = await trx
      .insertInto('subjects')
      .values({
        address: session.address,
        wallet_pub: session.walletPub,
        wallet_id: fieldToHex(rulesOf(session.address).idOf(session.walletPub)),
        encryption_public_key: encryptionPublicKey,
        evidence_message: session.evidence.message,
        evidence_signature: session.evidence.signature,
        readiness: deps.gate === undefined ? 'eligibility_disabled' : 'eligibility_pending',
        whitelisted_at: null,
        created_at: now,
        claimed_at: isCharged ? now : null,
        admitted_at: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('address')
      .executeTakeFirst();
    if (inserted === undefined) {
      return false;
    }
    if (isCharged) {
      await claimPlace(trx, deps, session.address, caller);
    }
    await claimEncryptionKey(trx, session.address, encryptionPublicKey, deps.nowMs());
    return true;
  });
}

// A wallet that the operator removed, or that was enrolled before there was a gate: it takes a new leaf.
async function chargeKnown(deps: EnrolmentDeps, address: string, caller: string): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    const charged = await trx
      .updateTable('subjects')
      .set({ claimed_at: new Date(deps.nowMs()).toISOString() })
      .where('address', '=', address)
      .where('claimed_at', 'is', null)
      .returning('address')
      .executeTakeFirst();
    if (charged !== undefined) {
      await claimPlace(trx, deps, address, caller);
    }
  });
}
