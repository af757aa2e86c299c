/**
 * Verifies that P belongs to W, once per piece of evidence, and pins the newest seen per wallet
 * (protocol §2). A platform that swaps W or P, or serves evidence from before a rotation, is caught here,
 * before a proof exists.
 *
 * @module
 */
import {
  canonicalDigest,
  type EvidenceDomain,
  type EvmAddress,
  type Hex32,
  isPoolError,
  type RecipientRecord,
  type SignInEvidence,
  type VerifiedEvidence,
  verifyEvidence,
} from '@pool/core';
import { decodeEncryptionPublicKey } from '@pool/notes';
import type { EvidencePins } from './ports.ts';

/** A recipient whose keys its own wallet vouches for. */
export type VerifiedRecipient = {
  readonly address: EvmAddress;
  readonly walletPub: VerifiedEvidence['walletPub'];
  readonly encryptionPublicKey: VerifiedEvidence['encryptionPublicKey'];
  readonly evidence: SignInEvidence;
};

/** `refused` says, for people, what is wrong. It never repeats what the platform sent. */
export type EvidenceVerdict =
  | { readonly kind: 'verified'; readonly recipient: VerifiedRecipient }
  | { readonly kind: 'refused'; readonly reason: string };

export type EvidenceVerifier = {
  /** Judges the platform's record of a `ready` recipient. */
  verify(address: EvmAddress, record: RecipientRecord): Promise<EvidenceVerdict>;
};

/** How many verified signatures are remembered: recovering one costs about a millisecond. */
const cacheSize = 10_000;

export function createEvidenceVerifier(deps: {
  readonly domain: EvidenceDomain;
  readonly pins: EvidencePins;
  readonly nowMs: () => number;
}): EvidenceVerifier {
  const cache = new Map<Hex32, VerifiedEvidence>();

  function verifyOnce(evidence: SignInEvidence): VerifiedEvidence {
    const digest = canonicalDigest(evidence);
    const known = cache.get(digest);
    if (known !== undefined) {
      return known;
    }
    const verified = verifyEvidence(evidence, deps.domain, deps.nowMs());
    // A note sealed to something that is no key would be lost.
    decodeEncryptionPublicKey(verified.encryptionPublicKey);
    const oldest = cache.size >= cacheSize ? cache.keys().next().value : undefined;
    if (oldest !== undefined) {
      cache.delete(oldest);
    }
    cache.set(digest, verified);
    return verified;
  }

  return {
    async verify(address, record) {
      const { walletPub, encryptionPublicKey, evidence } = record;
      if (walletPub === undefined || encryptionPublicKey === undefined || evidence === undefined) {
        return refused('the platform serves no walletPub, encryptionPublicKey or sign-in evidence');
      }
      let verified: VerifiedEvidence;
      try {
        verified = verifyOnce(evidence);
      } catch (error) {
        if (!isPoolError(error)) {
          throw error;
        }
        return refused(error.message);
      }
      if (verified.walletPub !== walletPub) {
        return refused('the served walletPub is not the one that signed');
      }
      if (verified.address !== address) {
        return refused('the served walletPub belongs to another address');
      }
      if (verified.encryptionPublicKey !== encryptionPublicKey) {
        return refused('the served encryptionPublicKey is not the one the wallet signed for');
      }
      if (!(await deps.pins.pin(verified))) {
        return refused('newer sign-in evidence of this wallet names another encryptionPublicKey');
      }
      return {
        kind: 'verified',
        recipient: { address, walletPub, encryptionPublicKey, evidence },
      };
    },
  };
}

function refused(reason: string): EvidenceVerdict {
  return { kind: 'refused', reason };
}
