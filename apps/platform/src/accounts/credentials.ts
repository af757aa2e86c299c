/**
 * The credentials of an account, stored hashed (docs/decisions/0010): API keys with one capability each, and edge tokens, with which its
 * agents come to `/agent-edge`. The operator makes edge tokens; an employer that was admitted also makes its own (docs/decisions/0006). A
 * stranger must not get one where the deployment admits wallets by invitation or screening: with it, an agent looks up recipients and
 * reads the pool-gate.
 *
 * @module
 */
import type { Capability, VerifiedKey } from '@pool/api';
import { PoolError, parseAccountAddress, type Secret } from '@pool/core';
import { lockEmployer, type PlatformDatabase, type PlatformTables } from '@pool/database';
import { hashCredential, isSameHash } from '@pool/http-server';
import { isAdmitted, isCustomer } from '@pool/relayer';
import type { Selectable } from 'kysely';
import {
  apiKeyPrefix,
  type CredentialMint,
  edgeTokenPrefix,
  parsePublicId,
} from '../credentials/credential.ts';
import type { AdmissionConfig } from '../employers/admission.ts';
import type { Employer } from '../employers/employers.ts';

type Kind = 'key' | 'edge token';

export type CredentialMetadata = {
  readonly id: number;
  /** Up to and including the public id. */
  readonly prefix: string;
  readonly employerId: string;
  /** Null: an edge token. */
  readonly capability: Capability | null;
  readonly name: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
  /** Settlements or spends posted with it whose proof did not verify. */
  readonly refusedProofs: number;
  /** Who made it. Only a token of the operator lets its employer invite wallets. */
  readonly issuedBy: 'operator' | 'session';
};
/** A new one. Its plaintext is available only here. */
export type MintedCredential = CredentialMetadata & { readonly secret: Secret };

/** An employer, and the edge token that identifies it. */
export type EdgeCaller = Employer & { readonly edgeTokenId: number };

/** Live ones of an account: API keys, and edge tokens that it made itself. */
const maxLive = { key: 50, 'edge token': 10 } as const;

/** @throws PoolError `key_limit_reached` (409) */
export async function mintApiKey(
  db: PlatformDatabase,
  credentials: CredentialMint,
  employer: Employer,
  capability: Capability,
  name: string,
  nowMs: number,
): Promise<MintedCredential> {
  return await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    if ((await countLive(trx, 'key', employer)) >= maxLive.key) {
      throw new PoolError(
        'key_limit_reached',
        `a wallet may have ${maxLive.key} live API keys; revoke one first`,
      );
    }
    const asked = { capability, name, issuedBy: 'session' } as const;
    return await insert(trx, credentials, employer, asked, nowMs);
  });
}

export async function createEdgeToken(
  db: PlatformDatabase,
  credentials: CredentialMint,
  employer: Employer,
  name: string,
  nowMs: number,
  issuedBy: CredentialMetadata['issuedBy'] = 'operator',
): Promise<MintedCredential> {
  const asked = { capability: null, name, issuedBy };
  return await insert(db, credentials, employer, asked, nowMs);
}

/** A token that an employer makes with its own session. @throws PoolError `edge_token_not_allowed` (403), `key_limit_reached` (409) */
export async function createOwnEdgeToken(
  db: PlatformDatabase,
  credentials: CredentialMint,
  admission: Pick<AdmissionConfig, 'invitations'>,
  employer: Employer,
  name: string,
  nowMs: number,
): Promise<MintedCredential> {
  return await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    if (!(await isKnownEmployer(trx, admission, employer))) {
      throw new PoolError(
        'edge_token_not_allowed',
        'the wallet of this employer is not on the eligibility list: enrol it first, or ask the operator of the platform for an edge token',
      );
    }
    if ((await countLive(trx, 'edge token', employer)) >= maxLive['edge token']) {
      throw new PoolError(
        'key_limit_reached',
        `an employer may have ${maxLive['edge token']} live edge tokens of its own; revoke one first`,
      );
    }
    return await createEdgeToken(trx, credentials, employer, name, nowMs, 'session');
  });
}

async function countLive(trx: PlatformDatabase, kind: Kind, employer: Employer): Promise<number> {
  const { live } = await trx
    .selectFrom('credentials')
    .select((eb) => eb.fn.countAll<string | number>().as('live'))
    .where('employer_id', '=', employer.id)
    .where('capability', nullTest[kind], null)
    .where('issued_by', '=', 'session')
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(live);
}

/** An API key has a capability, and an edge token has none. */
const nullTest = { key: 'is not', 'edge token': 'is' } as const;

async function insert(
  db: PlatformDatabase,
  credentials: CredentialMint,
  employer: Employer,
  { capability, name, issuedBy }: Pick<CredentialMetadata, 'capability' | 'name' | 'issuedBy'>,
  nowMs: number,
): Promise<MintedCredential> {
  const minted = credentials.mint(capability === null ? edgeTokenPrefix : apiKeyPrefix);
  const row = await db
    .insertInto('credentials')
    .values({
      employer_id: employer.id,
      public_id: minted.publicId,
      secret_hash: minted.hash,
      capability,
      name,
      created_at: new Date(nowMs).toISOString(),
      issued_by: issuedBy,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...describe(row), secret: minted.credential };
}

/** Revoked ones included, the oldest first. @param employer - only its own; absent: all */
export async function listCredentials(
  db: PlatformDatabase,
  kind: Kind,
  employer?: Employer,
): Promise<CredentialMetadata[]> {
  const rows = await db
    .selectFrom('credentials')
    .selectAll()
    .where('capability', nullTest[kind], null)
    .$if(employer !== undefined, (query) => query.where('employer_id', '=', employer?.id ?? ''))
    .orderBy('id')
    .execute();
  return rows.map(describe);
}

function describe(row: Selectable<PlatformTables['credentials']>): CredentialMetadata {
  return {
    id: row.id,
    prefix: `${row.capability === null ? edgeTokenPrefix : apiKeyPrefix}_${row.public_id}`,
    employerId: row.employer_id,
    capability: row.capability,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    refusedProofs: row.refused_proofs,
    issuedBy: row.issued_by,
  };
}

/** The live row of a presented credential, with the address of its employer. */
async function findLive(db: PlatformDatabase, prefix: string, credential: string) {
  const publicId = parsePublicId(prefix, credential);
  const row =
    publicId === undefined
      ? undefined
      : await db
          .selectFrom('credentials')
          .innerJoin('employers', 'employers.id', 'employer_id')
          .select(['credentials.id', 'employer_id', 'employers.address', 'capability'])
          .select(['secret_hash', 'revoked_at'])
          .where('public_id', '=', publicId)
          .executeTakeFirst();
  const isLive =
    row !== undefined &&
    isSameHash(row.secret_hash, hashCredential(credential)) &&
    row.revoked_at === null;
  return isLive ? { ...row, address: parseAccountAddress(row.address) } : undefined;
}

/** The capability of a presented key; `{valid: false}` for an unknown or revoked one. */
export async function verifyApiKey(db: PlatformDatabase, apiKey: string): Promise<VerifiedKey> {
  const row = await findLive(db, apiKeyPrefix, apiKey);
  if (row === undefined || row.capability === null) {
    return { valid: false };
  }
  const { id: keyId, employer_id: employerId, capability, address } = row;
  return { valid: true, capability, employerId, address, keyId };
}

/** The employer an edge token is bound to; undefined for an unknown or revoked one. */
export async function findEdgeEmployer(
  db: PlatformDatabase,
  token: string,
): Promise<EdgeCaller | undefined> {
  const row = await findLive(db, edgeTokenPrefix, token);
  return row?.capability === null
    ? { id: row.employer_id, address: row.address, edgeTokenId: row.id }
    : undefined;
}

/**
 * Repeating the call changes nothing.
 * @param employer - the credential must be one of its own; absent: any
 * @throws PoolError `not_found` (404)
 */
export async function revokeCredential(
  db: PlatformDatabase,
  kind: Kind,
  id: number,
  nowMs: number,
  employer?: Employer,
): Promise<void> {
  const row = await db
    .updateTable('credentials')
    .set((eb) => ({
      revoked_at: eb.fn.coalesce('revoked_at', eb.val(new Date(nowMs).toISOString())),
    }))
    .where('id', '=', id)
    .where('capability', nullTest[kind], null)
    .$if(employer !== undefined, (query) => query.where('employer_id', '=', employer?.id ?? ''))
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) {
    throw new PoolError('not_found', `there is no such ${kind}`);
  }
}

/** @returns how many proofs of settlements or spends of this credential were refused, this one included */
export async function countRefusedProof(db: PlatformDatabase, id: number): Promise<number> {
  const row = await db
    .updateTable('credentials')
    .set((eb) => ({ refused_proofs: eb('refused_proofs', '+', 1) }))
    .where('id', '=', id)
    .returning('refused_proofs')
    .executeTakeFirst();
  return row?.refused_proofs ?? 1;
}

/** Whether an account is more than a sign-in: its wallet was admitted, or the operator gave it an edge token that is live. */
export async function isKnownEmployer(
  db: PlatformDatabase,
  admission: Pick<AdmissionConfig, 'invitations'>,
  employer: Pick<Employer, 'id'> & { readonly address: string },
): Promise<boolean> {
  return (
    admission.invitations === 'off' ||
    (await isCustomer(db, employer.id)) ||
    (await isAdmitted(db, employer.address))
  );
}
