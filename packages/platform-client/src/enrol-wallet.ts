/**
 * The enrolment of a wallet in a session of its own.
 *
 * @module
 */
import { type EncryptionPublicKey, type Hex, PoolError } from '@pool/core';
import type { Onboarding, SessionClient } from './session-client.ts';

/**
 * Enrols the session's wallet. The session was opened with a sign-in text that lists P. A second call reads the same enrolment.
 *
 * @param wallet - W and P. Public
 * @throws PoolError of the platform; `platform_invalid_response` if it enrolled another W or P
 */
export async function enrolWallet(
  session: Pick<SessionClient, 'onboard'>,
  wallet: { readonly walletPub: Hex; readonly encryptionPublicKey: EncryptionPublicKey },
): Promise<Onboarding> {
  const { walletPub, encryptionPublicKey } = wallet;
  const enrolment = await session.onboard(walletPub, encryptionPublicKey);
  if (enrolment.walletPub !== walletPub || enrolment.encryptionPublicKey !== encryptionPublicKey) {
    // Payers would be shown another W or P. Their agents refuse it, and the holder would never be paid.
    throw new PoolError(
      'platform_invalid_response',
      'the platform enrolled another W or P than this holder’s; ask its operator, and do not use this enrolment',
    );
  }
  return enrolment;
}
