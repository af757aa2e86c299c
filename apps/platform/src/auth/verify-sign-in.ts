/**
 * Verifies a sign-in. Its text must be for this platform, be current, have an unused nonce, and be signed by the wallet
 * it names: with the wallet's own key, or as accepted by the contract at its address (ERC-1271).
 *
 * @module
 */
import {
  type AccountAddress,
  computeWalletAddress,
  type Ed25519SignIn,
  findEd25519Family,
  type Hex,
  maxEvidenceSkewMs,
  PoolError,
  parseEd25519SignIn,
  parseSignInMessage,
  recoverWalletPub,
  type SignInEvidence,
  type SignInMessage,
  verifyEd25519SignIn,
  type WalletPub,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { ContractWallets } from './contract-wallets.ts';
import { claimSignInNonce } from './sign-in-nonces.ts';

export type SignInSettings = {
  /** The values that a sign-in text must contain. */
  readonly domain: string;
  readonly uri: string;
  readonly chainIds: readonly number[];
  readonly nonceTtlSeconds: number;
};

/** What verified the text: a key, or the contract at the address on a chain. */
export type Signer =
  | { readonly walletPub: Hex; readonly contractChainId?: undefined }
  | { readonly walletPub?: undefined; readonly contractChainId: number };

export type VerifiedSignIn = { readonly address: AccountAddress; readonly signer: Signer };

/**
 * Verifies a sign-in and uses its nonce up.
 * @throws PoolError `invalid_sign_in` (400 for no such text, else 401), `invalid_signature`,
 *   `contract_wallet_unsupported` (401), `rate_limited` (429), `chain_unreachable`, `too_many_sign_ins`
 *   (503), the last three retryable
 */
export async function verifySignIn(
  db: PlatformDatabase,
  settings: SignInSettings,
  contracts: ContractWallets,
  evidence: SignInEvidence,
  nowMs: () => number,
): Promise<VerifiedSignIn> {
  const isEd25519 = findEd25519Family(evidence.message) !== undefined;
  const text = isEd25519
    ? parseEd25519SignIn(evidence.message)
    : parseSignInMessage(evidence.message);
  // The nonce is used up first, even if something else is wrong.
  if (!(await claimSignInNonce(db, text.nonce, nowMs()))) {
    throw refused('its nonce is unknown, used or expired; ask for a new one');
  }
  assertAcceptable(text, settings, nowMs());
  if ('family' in text) {
    return { address: text.address, signer: { walletPub: verifyEd25519SignIn(evidence, text) } };
  }
  return await verifyEvmSigner(text, contracts, evidence);
}

async function verifyEvmSigner(
  message: SignInMessage,
  contracts: ContractWallets,
  evidence: SignInEvidence,
): Promise<VerifiedSignIn> {
  const own = tryRecover(evidence);
  if (!(own instanceof Error) && computeWalletAddress(own) === message.address) {
    return { address: message.address, signer: { walletPub: own } };
  }
  const { chainId, address } = message;
  const verdict = await contracts.ask(chainId, address, evidence);
  switch (verdict) {
    case 'valid':
      return { address, signer: { contractChainId: chainId } };
    case 'invalid':
      throw refused(
        'the contract at the address it names does not accept the signature (ERC-1271)',
      );
    case 'delegated-account':
      throw new PoolError(
        'contract_wallet_unsupported',
        'this account has a key of its own and only borrows code (EIP-7702): sign with its key',
        { status: 401 },
      );
    case 'no-contract':
      throw own instanceof Error
        ? own
        : refused(
            'it was not signed by the key of the wallet it names, and the chain it names has no contract there',
          );
  }
}

function tryRecover({ message, signature }: SignInEvidence): WalletPub | Error {
  try {
    return recoverWalletPub(message, signature);
  } catch (error) {
    if (error instanceof Error) {
      return error;
    }
    throw error;
  }
}

function assertAcceptable(
  message: SignInMessage | Ed25519SignIn,
  settings: SignInSettings,
  nowMs: number,
): void {
  if (message.domain !== settings.domain || message.uri !== settings.uri) {
    throw refused('its domain or URI is not this platform');
  }
  // An ed25519 text names a network, on which this platform has nothing.
  if ('chainId' in message && !settings.chainIds.includes(message.chainId)) {
    throw refused('its chain is not one of this platform');
  }
  const { issuedAtMs, expirationTimeMs } = message;
  const maxAgeMs = settings.nonceTtlSeconds * 1000 + maxEvidenceSkewMs;
  const issuedInTime = issuedAtMs >= nowMs - maxAgeMs && issuedAtMs <= nowMs + maxEvidenceSkewMs;
  // Written so that a date that does not parse (NaN) is also refused.
  if (!issuedInTime || !(expirationTimeMs === undefined || expirationTimeMs > nowMs)) {
    throw refused('it is expired or its time is wrong');
  }
}

function refused(reason: string): PoolError {
  return new PoolError('invalid_sign_in', `sign-in refused: ${reason}`, { status: 401 });
}
