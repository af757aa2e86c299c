/**
 * Enrolment: a wallet becomes a pool subject with its W and P (docs/decisions/0008,
 * "Enrolment"). The stored sign-in text is what later lets an agent check P without trusting us.
 *
 * @module
 */
import {
  computeWalletAddress,
  encryptionKeyResourcePrefix,
  fieldToHex,
  type GateWallet,
  PoolError,
  parseSignInMessage,
  parseWalletPub,
  type Readiness,
} from '@pool/core';
import { computeWalletId, decodeEncryptionPublicKey } from '@pool/notes';
import type { Session } from '../auth/sessions.ts';
import type { PlatformDatabase, PlatformTables } from '../database/platform-tables.ts';
import { describeFailure, type Log } from '../log.ts';
import { getEmployer } from './employers.ts';

/** The gate as enrolment needs it; a `GateClient` of @pool/platform-client is one. */
export type EnrolmentGate = {
  putWallet(walletId: string, walletPub: string): Promise<GateWallet>;
};

export type EnrolmentDeps = {
  readonly db: PlatformDatabase;
  /** Absent: this deployment has no gate, and nobody becomes fundable. */
  readonly gate: EnrolmentGate | undefined;
  /** How long a request waits for the gate; its answer is recorded whenever it comes. */
  readonly gateWaitMs: number;
  readonly log: Log;
  readonly nowMs: () => number;
};

export type Subject = PlatformTables['subjects'];

export type Enrolled = { readonly subject: Subject; readonly created: boolean };

/**
 * Enrols the session's wallet; the same (W, P) again drives the gate again.
 * @throws PoolError `wallet_mismatch` (403), `use_rotate`, `evidence_required`, `encryption_key_taken`,
 *   `employer_not_found` (409)
 */
export async function enrolHolder(
  deps: EnrolmentDeps,
  session: Session,
  request: { readonly walletPub: string; readonly encryptionPublicKey: string },
): Promise<Enrolled> {
  const walletPub = parseWalletPub(request.walletPub);
  const encryptionPublicKey = request.encryptionPublicKey;
  decodeEncryptionPublicKey(encryptionPublicKey);
  if (computeWalletAddress(walletPub) !== session.address) {
    throw new PoolError(
      'wallet_mismatch',
      'walletPub is not the key of the wallet that signed in; sign in with the wallet to enrol',
      { status: 403 },
    );
  }
  await getEmployer(deps.db, session.address);
  let created = false;
  if ((await findSubject(deps.db, session.address)) === undefined) {
    assertEvidence(session, encryptionPublicKey);
    created = await insertSubject(deps, session, encryptionPublicKey);
  }
  // Read after the insert: of two first enrolments at once, the one that came second sees the other's key.
  const known = await findSubject(deps.db, session.address);
  if (known === undefined) {
    throw encryptionKeyTaken();
  }
  if (known.encryption_public_key !== encryptionPublicKey) {
    throw new PoolError(
      'use_rotate',
      'this wallet is enrolled with another encryption key; rotate it instead',
      { status: 409 },
    );
  }
  const readiness = await confirmAtGate(deps, session.address);
  const subject = (await findSubject(deps.db, session.address)) ?? known;
  return { subject: { ...subject, readiness }, created };
}

// Enrolment proves the wallet and not the viewing key, and notes are served by P alone: a second wallet with
// the same P would read the first one's notes (docs/decisions/0005).
function encryptionKeyTaken(): PoolError {
  return new PoolError(
    'encryption_key_taken',
    'this encryption key belongs to another wallet on this platform; enrol the wallet that has it, ' +
      'or enrol this wallet with a viewing key of its own',
    { status: 409 },
  );
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

function assertEvidence(session: Session, encryptionPublicKey: string): void {
  if (parseSignInMessage(session.evidence.message).encryptionPublicKey !== encryptionPublicKey) {
    throw new PoolError(
      'evidence_required',
      'sign in again with a message that lists the resource ' +
        `${encryptionKeyResourcePrefix}${encryptionPublicKey}`,
      { status: 409 },
    );
  }
}

/** @returns false when the wallet, or the encryption key, has a subject already */
async function insertSubject(
  deps: EnrolmentDeps,
  session: Session,
  encryptionPublicKey: string,
): Promise<boolean> {
  const inserted = await deps.db
    .insertInto('subjects')
    .values({
      address: session.address,
      wallet_pub: session.walletPub,
      wallet_id: fieldToHex(computeWalletId(session.walletPub)),
      encryption_public_key: encryptionPublicKey,
      evidence_message: session.evidence.message,
      evidence_signature: session.evidence.signature,
      readiness: deps.gate === undefined ? 'eligibility_disabled' : 'eligibility_pending',
      whitelisted_at: null,
      created_at: new Date(deps.nowMs()).toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('address')
    .executeTakeFirst();
  return inserted !== undefined;
}

// Answers after gateWaitMs at the latest. The gate's own answer is recorded even when it comes later.
async function confirmAtGate(deps: EnrolmentDeps, address: string): Promise<Readiness> {
  const { gate, db } = deps;
  const subject = await findSubject(db, address);
  if (gate === undefined || subject === undefined) {
    await setReadiness(db, address, 'eligibility_disabled', null);
    return 'eligibility_disabled';
  }
  const confirmed = (async (): Promise<Readiness> => {
    try {
      const answer = await gate.putWallet(subject.wallet_id, subject.wallet_pub);
      const ready = answer.status === 'whitelisted';
      const readiness: Readiness = ready ? 'ready' : 'eligibility_failed';
      const at = answer.whitelistedAt ?? new Date(deps.nowMs()).toISOString();
      await setReadiness(db, address, readiness, ready ? at : null);
      return readiness;
    } catch (error) {
      deps.log.warn({ ...describeFailure(error) }, 'gate write failed');
      // A wallet that is on the list stays fundable while the gate cannot be reached.
      if (subject.readiness !== 'ready') {
        await setReadiness(db, address, 'eligibility_failed', null);
      }
      return 'eligibility_failed';
    }
  })();
  return await within(confirmed, deps.gateWaitMs, 'eligibility_pending');
}

async function setReadiness(
  db: PlatformDatabase,
  address: string,
  readiness: Readiness,
  whitelistedAt: string | null,
): Promise<void> {
  await db
    .updateTable('subjects')
    .set({ readiness, whitelisted_at: whitelistedAt })
    .where('address', '=', address)
    .execute();
}

async function within<T>(promise: Promise<T>, ms: number, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
