/**
 * What the rows of API keys and of edge tokens share.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { hashCredential, isSameHash } from '@pool/http-server';
import type { Employer } from '../employers/employers.ts';

type CredentialTable = 'api_keys' | 'edge_tokens';

/** Whether a presented credential is that of its row, and not revoked. */
export function isLive(
  row: { readonly secret_hash: string; readonly revoked_at: string | null },
  credential: string,
): boolean {
  return isSameHash(row.secret_hash, hashCredential(credential)) && row.revoked_at === null;
}

/**
 * Repeating the call changes nothing.
 * @param employer - the credential must be one of its own; absent: any
 * @throws PoolError `not_found` (404)
 */
export async function revokeCredential(
  db: PlatformDatabase,
  table: CredentialTable,
  id: number,
  nowMs: number,
  employer?: Employer,
): Promise<void> {
  const row = await db
    .updateTable(table)
    .set((eb) => ({
      revoked_at: eb.fn.coalesce('revoked_at', eb.val(new Date(nowMs).toISOString())),
    }))
    .where('id', '=', id)
    .$if(employer !== undefined, (query) => query.where('employer_id', '=', employer?.id ?? ''))
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) {
    throw new PoolError(
      'not_found',
      `there is no such ${table === 'api_keys' ? 'key' : 'edge token'}`,
    );
  }
}

/** @returns how many proofs of settlements or spends of this credential were refused, this one included */
export async function countRefusedProof(
  db: PlatformDatabase,
  table: CredentialTable,
  id: number,
): Promise<number> {
  const row = await db
    .updateTable(table)
    .set((eb) => ({ refused_proofs: eb('refused_proofs', '+', 1) }))
    .where('id', '=', id)
    .returning('refused_proofs')
    .executeTakeFirst();
  return row?.refused_proofs ?? 1;
}
