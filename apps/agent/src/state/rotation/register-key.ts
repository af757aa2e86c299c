/**
 * What `rotate-viewing-key` asks of the platform: which P is registered, and the rotation, whose sign-in text lists the new P as evidence.
 *
 * @module
 */
import {
  type EncryptionPublicKey,
  type EvidenceDomain,
  PoolError,
  parseEvmAddress,
  parseSignInMessage,
} from '@pool/core';
import { createSessionClient, type SessionClient } from '@pool/platform-client';
import type { Holder } from '@pool/wallet/node';

export type PlatformPlace = {
  /** Base URL. */
  readonly url: string;
  /** Domain and URI of the sign-in text. */
  readonly evidence: EvidenceDomain;
};

/** P that is registered for the holder's wallet. @throws PoolError `rotation_not_possible` if it is not enrolled */
export async function fetchRegisteredKey(place: PlatformPlace, holder: Holder): Promise<string> {
  return await withSession(place, holder, undefined, async (session) => {
    const { encryptionPublicKey, walletPub } = await session.getEnrollment();
    if (encryptionPublicKey === undefined) {
      throw new PoolError(
        'rotation_not_possible',
        'the wallet is not enrolled, so there is no key to rotate: enrol it with `onboard --enroll-holder`',
      );
    }
    if (walletPub !== holder.walletPub) {
      throw new PoolError(
        'platform_invalid_response',
        'the platform has another W for this wallet; ask its operator',
      );
    }
    return encryptionPublicKey;
  });
}

/**
 * Registers the holder's present P. A repetition changes nothing, so it can be run again after a lost answer.
 * @param current - P that is registered now
 * @throws PoolError of the platform
 */
export async function registerKey(
  place: PlatformPlace,
  holder: Holder,
  current: string,
): Promise<void> {
  const { walletPub, encryptionPublicKey } = holder;
  await withSession(place, holder, encryptionPublicKey, async (session) => {
    const answer = await session.rotateEncryptionKey(walletPub, current, encryptionPublicKey);
    const found = await session.getEnrollment();
    for (const seen of [answer, found]) {
      if (seen.encryptionPublicKey !== encryptionPublicKey || seen.walletPub !== walletPub) {
        throw new PoolError(
          'platform_invalid_response',
          'the platform shows another W or P after the rotation than it was sent; run the command again, and ask its operator if that repeats',
        );
      }
    }
  });
}

async function withSession<T>(
  { url, evidence }: PlatformPlace,
  holder: Holder,
  listed: EncryptionPublicKey | undefined,
  work: (session: SessionClient) => Promise<T>,
): Promise<T> {
  const session = createSessionClient({ url });
  const evidenceKey = listed === undefined ? {} : { encryptionPublicKey: listed };
  await session.signIn({
    address: parseEvmAddress(holder.address),
    ...evidence,
    ...evidenceKey,
    signMessage: (message) => {
      const { chainId } = parseSignInMessage(message);
      return holder.signer.signIn({ message, expected: { ...evidence, chainId }, ...evidenceKey });
    },
  });
  try {
    return await work(session);
  } finally {
    await session.signOut().catch(() => undefined);
  }
}
