/**
 * Edge tokens: the agent's own credential at `/agent-edge`, bound to one employer, stored hashed
 * (docs/decisions/0010). The operator makes them; an employer that was admitted also makes its own (docs/decisions/0006).
 *
 * @module
 */
import { parseAccountAddress, type Secret } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { type CredentialMint, edgeTokenPrefix, parsePublicId } from '../credentials/credential.ts';
import type { Employer } from '../employers/employers.ts';
import { isLive, revokeCredential } from './credential-rows.ts';

export type EdgeTokenMetadata = {
  readonly id: number;
  readonly prefix: string;
  readonly employerId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
  /** Settlements sent with this token whose proof did not verify. */
  readonly refusedProofs: number;
  readonly issuedBy: 'operator' | 'session';
};

/** An employer, and the edge token that identifies it. */
export type EdgeCaller = Employer & { readonly edgeTokenId: number };

export async function createEdgeToken(
  db: PlatformDatabase,
  credentials: CredentialMint,
  employer: Employer,
  name: string,
  nowMs: number,
  issuedBy: EdgeTokenMetadata['issuedBy'] = 'operator',
): Promise<EdgeTokenMetadata & { readonly token: Secret }> {
  const minted = credentials.mint(edgeTokenPrefix);
  const createdAt = new Date(nowMs).toISOString();
  const { id } = await db
    .insertInto('edge_tokens')
    .values({
      employer_id: employer.id,
      public_id: minted.publicId,
      secret_hash: minted.hash,
      name,
      created_at: createdAt,
      revoked_at: null,
      issued_by: issuedBy,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return {
    id,
    prefix: minted.displayPrefix,
    employerId: employer.id,
    name,
    createdAt,
    revokedAt: null,
    refusedProofs: 0,
    issuedBy,
    token: minted.credential,
  };
}

/** @param employer - only its tokens; absent: all */
export async function listEdgeTokens(
  db: PlatformDatabase,
  employer?: Employer,
): Promise<EdgeTokenMetadata[]> {
  const rows = await db
    .selectFrom('edge_tokens')
    .selectAll()
    .$if(employer !== undefined, (query) => query.where('employer_id', '=', employer?.id ?? ''))
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    prefix: `${edgeTokenPrefix}_${row.public_id}`,
    employerId: row.employer_id,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    refusedProofs: row.refused_proofs,
    issuedBy: row.issued_by,
  }));
}

/**
 * @param employer - the token must be one of its own; absent: any
 * @throws PoolError `not_found` (404)
 */
export async function revokeEdgeToken(
  db: PlatformDatabase,
  id: number,
  nowMs: number,
  employer?: Employer,
): Promise<void> {
  await revokeCredential(db, 'edge_tokens', id, nowMs, employer);
}

/** The employer an edge token is bound to; undefined for an unknown or revoked one. */
export async function findEdgeEmployer(
  db: PlatformDatabase,
  token: string,
): Promise<EdgeCaller | undefined> {
  const publicId = parsePublicId(edgeTokenPrefix, token);
  if (publicId === undefined) {
    return undefined;
  }
  const row = await db
    .selectFrom('edge_tokens')
    .innerJoin('employers', 'employers.id', 'edge_tokens.employer_id')
    .select([
      'employers.id as id',
      'employers.address as address',
      'edge_tokens.id as edgeTokenId',
      'secret_hash',
      'revoked_at',
    ])
    .where('public_id', '=', publicId)
    .executeTakeFirst();
  if (row === undefined || !isLive(row, token)) {
    return undefined;
  }
  return { id: row.id, address: parseAccountAddress(row.address), edgeTokenId: row.edgeTokenId };
}
