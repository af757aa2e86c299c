/**
 * Sessions at the platform, each for one piece of work. The cookie is the browser's, so tabs with different accounts take turns.
 *
 * @module
 */
import type { EncryptionPublicKey } from '@pool/core';
import { createSessionClient, type SessionClient } from '@pool/platform-client/browser';
import type { OpenAccount } from '@pool/wallet/browser';
import type { Place } from './place.ts';
import { fetchPlatform } from './platform-fetch.ts';

/** Without a session: what everybody may ask. */
export function openPlatform({ platformUrl }: Place): SessionClient {
  return createSessionClient({ url: platformUrl, cookie: 'browser', fetch: fetchPlatform });
}

/**
 * Signs in with W, works, and signs out.
 * @param listed - P, if the session enrols it: the text is the evidence that payers keep
 * @throws PoolError of the platform
 */
export async function inSession<T>(
  place: Place,
  account: OpenAccount,
  work: (session: SessionClient) => Promise<T>,
  listed?: EncryptionPublicKey,
): Promise<T> {
  return await navigator.locks.request('pool-session', async () => {
    const session = openPlatform(place);
    const { chainId } = place.chain.settings;
    const expected = { ...place.evidence, chainId };
    const lists = listed === undefined ? {} : { encryptionPublicKey: listed };
    await session.signIn({
      address: account.address,
      ...expected,
      ...lists,
      signMessage: (message) => account.signer.signIn({ message, expected, ...lists }),
    });
    try {
      return await work(session);
    } finally {
      await session.signOut().catch(() => undefined);
    }
  });
}
