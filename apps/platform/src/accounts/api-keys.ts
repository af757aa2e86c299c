/**
 * API keys: one capability each, at most 50 live keys per wallet (docs/decisions/0010).
 *
 * @module
 */
import type { Capability, keyMetadataSchema, VerifiedKey } from '@pool/api';
import { PoolError, parseAccountAddress } from '@pool/core';
import { lockEmployer, type PlatformDatabase } from '@pool/database';
import type { InferOutput } from 'valibot';
import { apiKeyPrefix, type CredentialMint, parsePublicId } from '../credentials/credential.ts';
import type { Employer } from '../employers/employers.ts';
import { isLive } from './credential-rows.ts';

const maxLiveKeys = 50;

export type KeyMetadata = InferOutput<typeof keyMetadataSchema>;
export type MintedKey = KeyMetadata & { readonly apiKey: string };

/** @throws PoolError `key_limit_reached` (409) */
export async function mintApiKey(
  db: PlatformDatabase,
  credentials: CredentialMint,
  employer: Employer,
  capability: Capability,
  name: string,
  nowMs: number,
): Promise<MintedKey> {
  const minted = credentials.mint(apiKeyPrefix);
  const createdAt = new Date(nowMs).toISOString();
  const id = await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    const { live } = await trx
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<string | number>().as('live'))
      .where('employer_id', '=', employer.id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (Number(live) >= maxLiveKeys) {
      throw new PoolError(
        'key_limit_reached',
        `a wallet may have ${maxLiveKeys} live API keys; revoke one first`,
      );
    }
    const row = await trx
      .insertInto('api_keys')
      .values({
        employer_id: employer.id,
        public_id: minted.publicId,
        secret_hash: minted.hash,
        capability,
        name,
        created_at: createdAt,
        revoked_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return row.id;
  });
  return {
    id,
    apiKey: minted.credential.reveal(),
    keyPrefix: minted.displayPrefix,
    capability,
    name,
    createdAt,
  };
}

/** Every key ever issued to the employer, revoked ones included, oldest first. */
export async function listApiKeys(
  db: PlatformDatabase,
  employer: Employer,
): Promise<KeyMetadata[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('employer_id', '=', employer.id)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    keyPrefix: `${apiKeyPrefix}_${row.public_id}`,
    capability: row.capability,
    name: row.name,
    createdAt: row.created_at,
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
  }));
}

/** The capability of a presented key; `{valid: false}` for an unknown or revoked one. */
export async function verifyApiKey(db: PlatformDatabase, apiKey: string): Promise<VerifiedKey> {
  const publicId = parsePublicId(apiKeyPrefix, apiKey);
  const row =
    publicId === undefined
      ? undefined
      : await db
          .selectFrom('api_keys')
          .innerJoin('employers', 'employers.id', 'api_keys.employer_id')
          .select([
            'api_keys.id as keyId',
            'secret_hash',
            'capability',
            'employer_id',
            'employers.address as address',
            'revoked_at',
          ])
          .where('public_id', '=', publicId)
          .executeTakeFirst();
  if (row === undefined || !isLive(row, apiKey)) {
    return { valid: false };
  }
  return {
    valid: true,
    capability: row.capability,
    employerId: row.employer_id,
    address: parseAccountAddress(row.address),
    keyId: row.keyId,
  };
}
