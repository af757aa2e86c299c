/**
 * The people of the sandbox: one employer and its recipients, each signed in and enrolled over the
 * platform's own routes, as any outside client does.
 *
 * @module
 */
import {
  bigintToHex32,
  type EncryptionPublicKey,
  type EvmAddress,
  type Hex,
  hexToBytes,
  PoolError,
  type Secret,
  type WalletPub,
} from '@pool/core';
import { computeEncryptionPublicKey, deriveViewingKey } from '@pool/notes';
import { createSessionClient, type SessionClient } from '@pool/platform-client';
import { createLocalKeySigner, createSignRequest, type Signer } from '@pool/signers';
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
export type SignInPlace = { readonly platformUrl: string };

/** Derives a holder's keys as its own agent would: the viewing key from a signature of the wallet. */
export async function deriveHolder(privateKey: Secret<Hex>, place: SignInPlace): Promise<Holder> {
  const signer = createLocalKeySigner({ privateKey });
  const address = await signer.address();
  const signature = await signWith(signer, {
    kind: 'viewing-key',
    expectedSigner: address,
    payload: { domain: new URL(place.platformUrl).host },
  });
  // The key derives from r and s; v adds nothing to it.
  const viewingKey = deriveViewingKey(hexToBytes(signature, 65).subarray(0, 64));
  return {
    address,
    walletPub: await signer.publicKey(),
    encryptionPublicKey: computeEncryptionPublicKey(viewingKey),
    privateKey: privateKey.reveal(),
    viewingKey: bigintToHex32(viewingKey),
  };
}

/** A signed-in and registered session of the wallet. */
export async function openSession(
  privateKey: Secret<Hex>,
  place: SignInPlace,
  encryptionPublicKey?: EncryptionPublicKey,
): Promise<SessionClient> {
  const signer = createLocalKeySigner({
    privateKey,
    allow: encryptionPublicKey === undefined ? {} : { encryptionPublicKey },
  });
  const address = await signer.address();
  const domain = new URL(place.platformUrl).host;
  const uri = place.platformUrl;
  const client = createSessionClient({ url: place.platformUrl });
  await client.signIn({
    address,
    domain,
    uri,
    chainId,
    ...(encryptionPublicKey === undefined ? {} : { encryptionPublicKey }),
    signMessage: (message) =>
      signWith(signer, {
        kind: 'sign-in',
        expectedSigner: address,
        payload: { message, expected: { domain, uri, chainId } },
      }),
  });
  await client.register();
  return client;
}

/** Enrols a holder who is signed in, and waits until the gate has confirmed it. */
export async function enrolHolder(session: SessionClient, holder: Holder): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { readiness } = await session.onboard(holder.walletPub, holder.encryptionPublicKey);
    if (readiness === 'ready') {
      return;
    }
    if (attempt === 5) {
      throw new PoolError('enrolment_failed', `a holder stayed ${readiness}; see the gate's log`);
    }
  }
}

type SignContent = Parameters<typeof createSignRequest>[0];

async function signWith(signer: Signer, content: SignContent): Promise<Hex> {
  const outcome = await signer.submit(createSignRequest(content));
  if (outcome.state !== 'signed') {
    throw new PoolError('sandbox_signer_failed', `the local key did not sign: ${outcome.state}`);
  }
  return outcome.signature;
}
