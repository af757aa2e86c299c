/**
 * The record of contributions in a powers-of-tau file (section 7), as snarkjs writes it.
 *
 * @module
 */
import { asBuffer } from '../points/points.ts';
import { malformedFile } from './section-file.ts';
import { type ContributionLabel, contributionTypes, parseParameters } from './transcript.ts';

/** Proof of knowledge of one contribution's factor x: s and x·s in G1, and x·p in G2 for a p that both determine. */
export type PowersProof = {
  readonly base: Uint8Array;
  readonly multiplied: Uint8Array;
  readonly proof: Uint8Array;
};

/** One contribution to phase 1. Points are in the encoding of files. All of it is public. */
export type PowersContribution = ContributionLabel & {
  /** tau, alpha and beta after this contribution */
  readonly tau1: Uint8Array;
  readonly tau2: Uint8Array;
  readonly alpha1: Uint8Array;
  readonly beta1: Uint8Array;
  readonly beta2: Uint8Array;
  /** for the factors of tau, alpha and beta, in this order */
  readonly proofs: readonly [PowersProof, PowersProof, PowersProof];
  /** 64 bytes: hash of all powers after this contribution, which determines the p of the next contribution */
  readonly challenge: Uint8Array;
  readonly type: (typeof contributionTypes)[number];
};

const [G1, G2, partialHashBytes, hashBytes] = [64, 128, 216, 64];
const fixedBytes = 3 * G1 + 2 * G2 + 6 * G1 + 3 * G2 + partialHashBytes + hashBytes + 8;
const mostContributions = 10_000;

function malformed(what: string) {
  return malformedFile('ptau', what);
}

/**
 * Parses section 7. Only the form is checked.
 * @throws PoolError `artifact_malformed`
 */
export function parsePowersRecord(section: Uint8Array): PowersContribution[] {
  const bytes = asBuffer(section);
  let position = 0;
  const take = (length: number): Uint8Array => {
    if (position + length > bytes.length) {
      throw malformed('its record of contributions is cut off');
    }
    position += length;
    return Uint8Array.from(bytes.subarray(position - length, position));
  };
  const takeCount = (): number => asBuffer(take(4)).readUInt32LE(0);
  const count = takeCount();
  if (count > mostContributions || count * fixedBytes > bytes.length) {
    throw malformed('it declares too many contributions');
  }
  const contributions: PowersContribution[] = [];
  for (let index = 0; index < count; index++) {
    const [tau1, tau2, alpha1, beta1, beta2] = [take(G1), take(G2), take(G1), take(G1), take(G2)];
    const bases = [0, 1, 2].map(() => ({ base: take(G1), multiplied: take(G1) }));
    const [tau, alpha, beta] = bases.map((base) => ({ ...base, proof: take(G2) }));
    take(partialHashBytes);
    const challenge = take(hashBytes);
    const type = contributionTypes[takeCount()];
    const label = parseParameters('ptau', asBuffer(take(takeCount())));
    const isBeacon = label.beacon !== undefined;
    if ((type === 'beacon') !== isBeacon) {
      throw malformed('a contribution is of an unknown kind');
    }
    if (type === undefined || tau === undefined || alpha === undefined || beta === undefined) {
      throw malformed('a contribution is of an unknown kind');
    }
    const proofs = [tau, alpha, beta] as const;
    contributions.push({ tau1, tau2, alpha1, beta1, beta2, proofs, challenge, type, ...label });
  }
  if (position !== bytes.length) {
    throw malformed('there are bytes after its last contribution');
  }
  return contributions;
}
