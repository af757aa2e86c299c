/**
 * Sign-in evidence of the payees of a manifest (protocol §2): it proves that the owner of W chose P. Without this check, a compromised
 * agent could seal notes of the right wallet to a key of its own, and the money would be lost.
 *
 * @module
 */
import {
  type EncryptionPublicKey,
  type EvidenceDomain,
  type EvmAddress,
  isPoolError,
  parseAmount,
  parseEvmAddress,
  type SignInEvidence,
  type VerifiedEvidence,
  verifyEvidence,
} from '@pool/core';
import type { RebuiltPayee } from './rebuilt.ts';

/** A payee as a manifest names it. `address` is absent in a spend, which pays a W. */
type ClaimedPayee = {
  readonly address?: string;
  readonly walletPub: string;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly evidence: SignInEvidence;
  readonly amount: string;
};

/**
 * The payees, or the first problem. It names the payee by its place in the manifest, never by its evidence. Pauses after each payee,
 * because a recovery takes a millisecond.
 */
export function* stepVerifyPayees(
  payees: readonly ClaimedPayee[],
  domain: EvidenceDomain,
): Generator<undefined, readonly RebuiltPayee[] | string, undefined> {
  const verified: RebuiltPayee[] = [];
  for (const [index, payee] of payees.entries()) {
    const result = verifyPayee(payee, domain);
    if (typeof result === 'string') {
      return `recipient ${index + 1}: ${result}`;
    }
    verified.push(result);
    yield;
  }
  return verified;
}

function verifyPayee(payee: ClaimedPayee, domain: EvidenceDomain): RebuiltPayee | string {
  let verified: VerifiedEvidence;
  try {
    // The decision checks the date by its own clock, because a stored manifest is decided more than once.
    verified = verifyEvidence(payee.evidence, domain, Number.MAX_SAFE_INTEGER);
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    return error.message;
  }
  if (verified.walletPub !== payee.walletPub) {
    return 'its walletPub is not the one that signed the evidence';
  }
  if (payee.address !== undefined && !isSameAddress(payee.address, verified.address)) {
    return 'its walletPub belongs to another address';
  }
  if (verified.encryptionPublicKey !== payee.encryptionPublicKey) {
    return 'its encryptionPublicKey is not the one that the wallet signed for';
  }
  return {
    address: verified.address,
    walletPub: verified.walletPub,
    encryptionPublicKey: verified.encryptionPublicKey,
    amount: parseAmount(payee.amount),
    issuedAtMs: verified.issuedAtMs,
  };
}

function isSameAddress(text: string, address: EvmAddress): boolean {
  return parseEvmAddress(text) === address;
}
