/**
 * Edge tokens that an employer makes with its own session (docs/decisions/0038). A stranger must not get one where the deployment admits
 * wallets by invitation or screening: with it, an agent looks up recipients and reads the pool-gate.
 *
 * @module
 */
import { PoolError, type Secret } from '@pool/core';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { AdmissionConfig } from './admission.ts';
import type { CredentialMint } from './credential.ts';
import { createEdgeToken, type EdgeTokenMetadata } from './edge-tokens.ts';
import type { Employer } from './employers.ts';

/** Live tokens that one employer may have made itself. */
const maxOwnTokens = 10;

/** @throws PoolError `edge_token_not_allowed` (403), `edge_token_limit_reached` (409) */
export async function createOwnEdgeToken(
  db: PlatformDatabase,
  credentials: CredentialMint,
  admission: Pick<AdmissionConfig, 'invitations'>,
  employer: Employer,
  name: string,
  nowMs: number,
): Promise<EdgeTokenMetadata & { readonly token: Secret }> {
  return await db.transaction().execute(async (trx) => {
    // One at a time: two concurrent calls would both see room for the last token.
    await trx
      .selectFrom('employers')
      .select('id')
      .where('id', '=', employer.id)
      .forUpdate()
      .execute();
    const live = await trx
      .selectFrom('edge_tokens')
      .select('issued_by')
      .where('employer_id', '=', employer.id)
      .where('revoked_at', 'is', null)
      .execute();
    const isCustomer = live.some((token) => token.issued_by === 'operator');
    if (admission.invitations !== 'off' && !isCustomer && !(await isAdmitted(trx, employer))) {
      throw new PoolError(
        'edge_token_not_allowed',
        'the wallet of this employer is not enrolled: enrol it first, or ask the operator of the platform for an edge token',
      );
    }
    if (live.filter((token) => token.issued_by === 'session').length >= maxOwnTokens) {
      throw new PoolError(
        'edge_token_limit_reached',
        `an employer may have ${maxOwnTokens} live edge tokens of its own; revoke one first`,
      );
    }
    return await createEdgeToken(trx, credentials, employer, name, nowMs, 'session');
  });
}

/** Whether an employer or the screening list approved the wallet, and the operator has not removed it since. */
async function isAdmitted(db: PlatformDatabase, { address }: Employer): Promise<boolean> {
  const subject = await db
    .selectFrom('subjects')
    .select('admitted_at')
    .where('address', '=', address)
    .executeTakeFirst();
  return (subject?.admitted_at ?? null) !== null;
}
