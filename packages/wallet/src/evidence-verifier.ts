/**
 * Verifies that P belongs to W, once per piece of evidence, and pins the newest evidence of each wallet (protocol §2). It
 * detects a platform that swaps W or P, or serves evidence from before a rotation, before a proof exists.
 *
 * @module
 */
import type { RecipientRecord } from '@pool/api';
import {
  canonicalDigest,
  type EvidenceDomain,
  type EvmAddress,
  isPoolError,
  type SignInEvidence,
  type VerifiedEvidence,
  verifyEvidence,
} from '@pool/core';
import { decodeEncryptionPublicKey } from '@pool/notes';
import { giveWay } from './give-way.ts';
import type { EvidencePins, PinnedEvidence } from './ports.ts';

/** A recipient whose keys were signed for by its own wallet. */
export type VerifiedRecipient = {
  readonly address: EvmAddress;
  readonly walletPub: VerifiedEvidence['walletPub'];
  readonly encryptionPublicKey: VerifiedEvidence['encryptionPublicKey'];
  readonly evidence: SignInEvidence;
};

/** The platform's record of a `ready` recipient, and the address it was asked by. */
export type EvidenceClaim = {
  readonly address: EvmAddress;
  readonly record: RecipientRecord;
};

/** `reason` names the problem. It never repeats what the platform sent. */
export type EvidenceVerdict =
  | { readonly kind: 'verified'; readonly recipient: VerifiedRecipient }
  | { readonly kind: 'refused'; readonly reason: string };

export type EvidenceVerifier = {
  /** Verifies claims, in their order. All valid claims are pinned together, in one write. */
  verifyAll(claims: readonly EvidenceClaim[]): Promise<readonly EvidenceVerdict[]>;
};

/** How many verified signatures are remembered: recovering one costs about a millisecond. */
const cacheSize = 10_000;

/** A verified signature, before the pins are checked. */
type Signed = { readonly recipient: VerifiedRecipient; readonly verified: VerifiedEvidence };

export function createEvidenceVerifier(deps: {
  readonly domain: EvidenceDomain;
  readonly pins: EvidencePins;
  readonly nowMs: () => number;
  /** Verifies one signature. Default: the protocol's own; tests count its calls. */
  readonly verify?: typeof verifyEvidence;
}): EvidenceVerifier {
  const verify = deps.verify ?? verifyEvidence;
  const cache = new Map<string, VerifiedEvidence>();

  /** The cached result of a signature, or a new verification. Gives way after a verification. */
  async function verifyOnce(evidence: SignInEvidence): Promise<VerifiedEvidence> {
    const digest = computeEvidenceDigest(evidence);
    const known = cache.get(digest);
    if (known !== undefined) {
      return known;
    }
    try {
      const verified = verify(evidence, deps.domain, deps.nowMs());
      // A note that is sealed to an invalid key would be lost.
      decodeEncryptionPublicKey(verified.encryptionPublicKey);
      const oldest = cache.size >= cacheSize ? cache.keys().next().value : undefined;
      if (oldest !== undefined) {
        cache.delete(oldest);
      }
      cache.set(digest, verified);
      return verified;
    } finally {
      await giveWay();
    }
  }

  async function judge({ address, record }: EvidenceClaim): Promise<Signed | string> {
    const { walletPub, encryptionPublicKey, evidence } = record;
    if (walletPub === undefined || encryptionPublicKey === undefined || evidence === undefined) {
      return 'the platform serves no walletPub, encryptionPublicKey or sign-in evidence';
    }
    let verified: VerifiedEvidence;
    try {
      verified = await verifyOnce(evidence);
    } catch (error) {
      if (!isPoolError(error)) {
        throw error;
      }
      return error.message;
    }
    if (verified.walletPub !== walletPub) {
      return 'the served walletPub is not the one that signed';
    }
    if (verified.address !== address) {
      return 'the served walletPub belongs to another address';
    }
    if (verified.encryptionPublicKey !== encryptionPublicKey) {
      return 'the served encryptionPublicKey is not the one the wallet signed for';
    }
    return {
      recipient: { address, walletPub: verified.walletPub, encryptionPublicKey, evidence },
      verified,
    };
  }

  return {
    async verifyAll(claims) {
      const judged: (Signed | string)[] = [];
      for (const claim of claims) {
        judged.push(await judge(claim));
      }
      const signed = judged.filter((one) => typeof one !== 'string');
      const pinned = await deps.pins.pinAll(signed.map(({ verified }) => verified));
      const isNewest = new Map(signed.map((one, index) => [one, pinned[index] === true]));
      return judged.map((one): EvidenceVerdict => {
        if (typeof one === 'string') {
          return { kind: 'refused', reason: one };
        }
        return isNewest.get(one) === true
          ? { kind: 'verified', recipient: one.recipient }
          : {
              kind: 'refused',
              reason: 'newer sign-in evidence of this wallet names another encryptionPublicKey',
            };
      });
    },
  };
}

/** The newest key of a wallet, and the time of its evidence. */
export type PinnedKey = Pick<PinnedEvidence, 'encryptionPublicKey' | 'issuedAtMs'>;

/**
 * How a piece of evidence compares with what is pinned of its wallet. Two keys can have evidence of the same instant: the key that was
 * seen first remains.
 * @returns `newer`: it is accepted and pinned; `known`: it is accepted; `outdated`: it is refused
 */
export function comparePin(
  pinned: PinnedKey | undefined,
  { encryptionPublicKey, issuedAtMs }: PinnedEvidence,
): 'newer' | 'known' | 'outdated' {
  if (pinned === undefined || pinned.issuedAtMs < issuedAtMs) {
    return 'newer';
  }
  return pinned.encryptionPublicKey === encryptionPublicKey ? 'known' : 'outdated';
}

/** The signature has one length, so no two pieces of evidence spell the same text. */
function computeEvidenceDigest({ message, signature }: SignInEvidence): string {
  return canonicalDigest([signature, message]);
}
