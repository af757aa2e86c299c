/**
 * The people of the sandbox: one employer and its recipients, each signed in and enrolled over the
 * platform's own routes, as any outside client does.
 *
 * @module
 */
import {
  bigintToHex32,
  computeWalletAddress,
  type EncryptionPublicKey,
  type EvmAddress,
  type Hex,
  PoolError,
  parseWalletPub,
  type Secret,
  type WalletPub,
} from '@pool/core';
import { createSessionClient, type SessionClient } from '@pool/platform-client';
import {
  computeHolderEncryptionKey,
  createLocalKeyHolder,
  deriveHolderViewingKey,
} from '@pool/signers';
import { chainId } from './local-chain.ts';

export type Holder = {
  readonly address: EvmAddress;
  /** W */
  readonly walletPub: WalletPub;
  /** P */
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly privateKey: Hex;
  /** v, 32 bytes of hex. */
  readonly viewingKey: Hex;
};

/** Where people sign in: the platform's URL is its sign-in URI, its host the domain. */
export type SignInPlace = {
  readonly platformUrl: string;
  /** IPv4 address that a proxy before the platform is said to have seen. Undefined: no proxy. */
  readonly callerAddress?: string | undefined;
};

/** Derives a holder's keys as its own agent does: the viewing key from a signature of the wallet. */
export async function deriveHolder(privateKey: Secret<Hex>, place: SignInPlace): Promise<Holder> {
  const signer = createLocalKeyHolder({ privateKey });
  const viewingKey = await deriveHolderViewingKey(signer, new URL(place.platformUrl).host);
  const walletPub = parseWalletPub(await signer.walletPub());
  return {
    address: computeWalletAddress(walletPub),
    walletPub,
    encryptionPublicKey: computeHolderEncryptionKey(signer.curve, viewingKey),
    privateKey: privateKey.reveal(),
    viewingKey: bigintToHex32(viewingKey.reveal()),
  };
}

/** A signed-in and registered session of the wallet. */
export async function openSession(
  privateKey: Secret<Hex>,
  place: SignInPlace,
  encryptionPublicKey?: EncryptionPublicKey,
): Promise<SessionClient> {
  const signer = createLocalKeyHolder({ privateKey });
  const expected = { domain: new URL(place.platformUrl).host, uri: place.platformUrl, chainId };
  const listed = encryptionPublicKey === undefined ? {} : { encryptionPublicKey };
  const { platformUrl: url, callerAddress } = place;
  const client = createSessionClient(
    callerAddress === undefined ? { url } : { url, fetch: callFrom(callerAddress) },
  );
  await client.signIn({
    address: computeWalletAddress(await signer.walletPub()),
    ...expected,
    ...listed,
    signMessage: (message) => signer.signIn({ message, expected, ...listed }),
  });
  await client.register();
  return client;
}

function callFrom(address: string): typeof fetch {
  return (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-forwarded-for', address);
    // Other people do not share its connections.
    headers.set('connection', 'close');
    return fetch(url, { ...init, headers });
  };
}

/** Enrols a holder who is signed in, and waits until the gate has confirmed it. */
export async function enrolHolder(session: SessionClient, holder: Holder): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { readiness } = await session.onboard(holder.walletPub, holder.encryptionPublicKey);
    if (readiness === 'ready') {
      return;
    }
    if (attempt === 5) {
      throw new PoolError('sandbox_failed', `a holder stayed ${readiness}; see the gate's log`);
    }
  }
}

/** Signing keeps this process busy: a larger group would not answer the platform in time. */
const signInGroup = 50;
/** A platform takes so many connections of one address at once. */
const enrolGroup = 200;

async function inGroups<T, R>(
  items: readonly T[],
  groupSize: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += groupSize) {
    const group = items.slice(start, start + groupSize);
    results.push(...(await Promise.all(group.map((item, place) => work(item, start + place)))));
  }
  return results;
}

/**
 * Signs everybody in, then enrols them: wallets that reach the gate together share one wait for finality.
 * @param hasProxy - each calls from an address of its own
 */
export async function enrolHolders(
  keys: readonly Secret<Hex>[],
  place: SignInPlace,
  hasProxy = false,
): Promise<readonly Holder[]> {
  const people = await inGroups(keys, signInGroup, async (privateKey, index) => {
    const holder = await deriveHolder(privateKey, place);
    const callerAddress = hasProxy ? `10.0.${index >> 8}.${index & 255}` : undefined;
    const from = { ...place, callerAddress };
    const session = await openSession(privateKey, from, holder.encryptionPublicKey);
    return { holder, session };
  });
  await inGroups(people, enrolGroup, ({ holder, session }) => enrolHolder(session, holder));
  return people.map(({ holder }) => holder);
}
