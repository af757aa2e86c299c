/**
 * People for tests: a wallet, its viewing key, and the sign-in that proves its P.
 *
 * @module
 */
import {
  createSignInMessage,
  type EncryptionPublicKey,
  type EvmAddress,
  type Field,
  parseEvmAddress,
  parseHex,
  parseWalletPub,
  type SignInEvidence,
  type WalletPub,
} from '@pool/core';
import { computeEncryptionPublicKey, computeWalletId } from '@pool/notes';
import { toBeHex, Wallet, zeroPadValue } from 'ethers';

export type FakeHolder = {
  readonly wallet: Wallet;
  readonly address: EvmAddress;
  readonly walletPub: WalletPub;
  readonly walletId: Field;
  readonly viewingKey: bigint;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly evidence: SignInEvidence;
};

/** The platform that fake sign-ins are for. */
export const fakeEvidenceDomain = { domain: 'pool.test', uri: 'https://pool.test' } as const;

export type FakeSignIn = {
  readonly issuedAtMs?: number;
  readonly encryptionPublicKey?: EncryptionPublicKey;
  readonly domain?: string;
};

/** People without a sign-in of their own, made once per process. */
const made = new Map<number, FakeHolder>();

/** @param index - 1, 2, …: the same index is the same person */
export function createFakeHolder(index: number, signIn?: FakeSignIn): FakeHolder {
  const holder = signIn === undefined ? made.get(index) : undefined;
  if (holder !== undefined) {
    return holder;
  }
  const created = makeFakeHolder(index, signIn ?? {});
  if (signIn === undefined) {
    made.set(index, created);
  }
  return created;
}

function makeFakeHolder(index: number, signIn: FakeSignIn): FakeHolder {
  const wallet = new Wallet(zeroPadValue(toBeHex(1_000_000 + index), 32));
  const viewingKey = 1_000n + BigInt(index);
  const encryptionPublicKey = computeEncryptionPublicKey(viewingKey);
  const walletPub = parseWalletPub(wallet.signingKey.compressedPublicKey);
  return {
    wallet,
    address: parseEvmAddress(wallet.address),
    walletPub,
    walletId: computeWalletId(walletPub),
    viewingKey,
    encryptionPublicKey,
    evidence: signFakeEvidence(wallet, { encryptionPublicKey, ...signIn }),
  };
}

export function signFakeEvidence(
  wallet: Wallet,
  signIn: FakeSignIn & { readonly encryptionPublicKey: EncryptionPublicKey },
): SignInEvidence {
  const issuedAtMs = signIn.issuedAtMs ?? Date.UTC(2026, 10, 1);
  const message = createSignInMessage({
    domain: signIn.domain ?? fakeEvidenceDomain.domain,
    address: parseEvmAddress(wallet.address),
    uri: fakeEvidenceDomain.uri,
    chainId: 31337,
    nonce: 'abcdefgh12345678',
    issuedAtMs,
    expirationTimeMs: issuedAtMs + 600_000,
    encryptionPublicKey: signIn.encryptionPublicKey,
  });
  return { message, signature: parseHex(wallet.signMessageSync(message), 65) };
}
