/**
 * Edge tokens that an employer makes with its own session (docs/decisions/0006). A stranger must not get one where the deployment admits
 * wallets by invitation or screening: with it, an agent looks up recipients and reads the pool-gate.
 *
 * @module
 */
import { PoolError, type Secret } from '@pool/core';
import { lockEmployer, type PlatformDatabase } from '@pool/database';
import { isAdmitted, isCustomer } from '@pool/relayer';
import type { CredentialMint } from '../credentials/credential.ts';
import type { AdmissionConfig } from '../employers/admission.ts';
import type { Employer } from '../employers/employers.ts';
import { createEdgeToken, type EdgeCaller, type EdgeTokenMetadata } from './edge-tokens.ts';

/** Live tokens that one employer may have made itself. */
const maxOwnTokens = 10;

/** @throws PoolError `edge_token_not_allowed` (403), `key_limit_reached` (409) */
export async function createOwnEdgeToken(
  db: PlatformDatabase,
  credentials: CredentialMint,
  admission: Pick<AdmissionConfig, 'invitations'>,
  employer: Employer,
  name: string,
  nowMs: number,
): Promise<EdgeTokenMetadata & { readonly token: Secret }> {
  return await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    const live = await trx
      .selectFrom('edge_tokens')
      .select('issued_by')
      .where('employer_id', '=', employer.id)
      .where('revoked_at', 'is', null)
      .execute();
    if (!(await isKnownEmployer(trx, admission, employer))) {
      throw new PoolError(
        'edge_token_not_allowed',
        'the wallet of this employer is not on the eligibility list: enrol it first, or ask the operator of the platform for an edge token',
      );
    }
    if (live.filter((token) => token.issued_by === 'session').length >= maxOwnTokens) {
      throw new PoolError(
        'key_limit_reached',
        `an employer may have ${maxOwnTokens} live edge tokens of its own; revoke one first`,
      );
    }
    return await createEdgeToken(trx, credentials, employer, name, nowMs, 'session');
  });
}

/**
 * Refuses a token that its employer made itself and could not make now: the operator removed the wallet, or revoked the last token
 * that it gave the employer. Admitted again, the token is good again.
 * @throws PoolError `edge_token_not_allowed` (403)
 */
export async function assertTokenStands(
  db: PlatformDatabase,
  admission: Pick<AdmissionConfig, 'invitations'>,
  caller: EdgeCaller,
): Promise<void> {
  if (!(await isKnownEmployer(db, admission, caller))) {
    throw new PoolError(
      'edge_token_not_allowed',
      'the wallet of this employer is not on the eligibility list any more, so the edge tokens that it made itself are refused; ask the operator of the platform',
    );
  }
}

/** Whether an account is more than a sign-in: its wallet was admitted, or the operator gave it an edge token that is live. */
export async function isKnownEmployer(
  db: PlatformDatabase,
  admission: Pick<AdmissionConfig, 'invitations'>,
  employer: { readonly id: string; readonly address: string },
): Promise<boolean> {
  return (
    admission.invitations === 'off' ||
    (await isCustomer(db, employer.id)) ||
    (await isAdmitted(db, employer.address))
  );
}
