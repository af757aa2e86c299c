/**
 * The signed word of a person about a batch that waits. It names the manifest and what it pays, so no word counts for another batch.
 *
 * @module
 */
import {
  evmAddressSchema,
  type Hex32,
  hex32Schema,
  hexSchema,
  isAmountString,
  isoTimeSchema,
  maxEvidenceSkewMs,
  parseEvmAddress,
} from '@pool/core';
import * as v from 'valibot';
import type { Policy, PolicyPerson } from '../policy/policy-schema.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';
import { createStatement, type PersonSignature } from './statement.ts';

/** A release as the operator command hands it over. */
export const releaseSchema = v.strictObject({
  manifestDigest: v.pipe(hex32Schema, v.description('SHA-256 of the canonical manifest.')),
  total: v.pipe(
    v.string(),
    v.maxLength(39),
    v.check((value) => isAmountString(value)),
    v.description('Total of the batch in base units, decimal.'),
  ),
  token: v.pipe(
    evmAddressSchema,
    v.transform((value) => parseEvmAddress(value)),
    v.description('EVM address of the token contract.'),
  ),
  decision: v.pipe(
    v.picklist(['release', 'deny']),
    v.description('`release` lets the batch pass. `deny` refuses it for good.'),
  ),
  issuedAt: v.pipe(isoTimeSchema, v.maxLength(32), v.description('When it was signed, UTC.')),
  publicKey: v.pipe(hexSchema(32), v.description('Ed25519 public key of the person.')),
  signature: v.pipe(hexSchema(64), v.description('Ed25519 signature over the release text.')),
});

/** What a person signs. */
export type ReleaseContent = Readonly<
  Omit<v.InferOutput<typeof releaseSchema>, 'publicKey' | 'signature'>
>;

/** What a person decided about a batch that waits. */
export type Release = ReleaseContent & PersonSignature;

const { publicKey: _key, signature: _signature, ...contentEntries } = releaseSchema.entries;
export const releaseContentEntries = contentEntries;

const statement = createStatement('pool/v1/release', contentEntries);
export const {
  compute: computeReleaseText,
  parse: parseReleaseText,
  sign: signRelease,
} = statement;

export type ReleaseVerdict =
  | { readonly kind: 'valid'; readonly person: PolicyPerson }
  | { readonly kind: 'refused'; readonly message: string };

/** Whether a listed person signed this text. It does not say that the batch exists. */
export function verifyRelease(release: Release, policy: Policy, nowMs: number): ReleaseVerdict {
  const person = policy.humanRelease?.people.find(
    ({ publicKey }) => publicKey === release.publicKey,
  );
  if (person === undefined) {
    return { kind: 'refused', message: 'the key is not that of a person of the policy' };
  }
  if (!(Date.parse(release.issuedAt) <= nowMs + maxEvidenceSkewMs)) {
    return { kind: 'refused', message: 'issuedAt is more than 5 minutes ahead' };
  }
  return statement.isSigned(release)
    ? { kind: 'valid', person }
    : { kind: 'refused', message: 'the signature is not that of the key over this release' };
}

/** A person's no that still holds. */
export type Denial = {
  /** Name of the person, or the key of one whom the policy does not list any more. */
  readonly by: string;
  readonly publicKey: string;
  readonly issuedAt: string;
  /** The batch that was denied: this one, or another one with the same roster. */
  readonly manifestDigest: Hex32;
};

export type ReleaseCount = {
  /** The people whose keys released this batch. Two names with one key count once. */
  readonly releasedBy: readonly PolicyPerson[];
  /** The newest denial of this roster that nobody took back. */
  readonly denial: Denial | undefined;
};

/**
 * Counts the valid words about a batch. Each is verified again, because the policy may have changed since.
 * @param releases - about every batch with its roster
 */
export function countReleases(
  releases: readonly Release[],
  batch: Pick<RebuiltFund, 'manifestDigest' | 'total' | 'token'>,
  policy: Policy,
  nowMs: number,
): ReleaseCount {
  const ofRoster = releases.filter(
    ({ total, token }) => total === String(batch.total) && token === batch.token,
  );
  const valid = ofRoster.filter(
    (one) => one.decision === 'release' && verifyRelease(one, policy, nowMs).kind === 'valid',
  );
  const people = policy.humanRelease?.people ?? [];
  const keys = valid
    .filter(({ manifestDigest }) => manifestDigest === batch.manifestDigest)
    .map(({ publicKey }) => publicKey);
  // A person who left the policy keeps their no: else an edit of the policy would take it back.
  const standing = ofRoster
    .filter((one) => one.decision === 'deny' && statement.isSigned(one))
    // That of the batch itself stays: a release of another batch with this roster must not let both be paid.
    .filter((one) => one.manifestDigest === batch.manifestDigest || !isTakenBack(one, valid))
    .toSorted((left, right) => Date.parse(right.issuedAt) - Date.parse(left.issuedAt));
  // Of this batch first: it is refused for good.
  const denial =
    standing.find(({ manifestDigest }) => manifestDigest === batch.manifestDigest) ?? standing[0];
  return {
    releasedBy: [...new Set(keys)].flatMap(
      (key) => people.find(({ publicKey }) => publicKey === key) ?? [],
    ),
    denial: denial === undefined ? undefined : describeDenial(denial, people),
  };
}

/** Later, who denied released a batch with this roster, or two different people released one. */
function isTakenBack(denial: Release, releases: readonly Release[]): boolean {
  const later = releases.filter(
    ({ issuedAt }) => Date.parse(issuedAt) > Date.parse(denial.issuedAt),
  );
  return later.some(({ manifestDigest, publicKey }) => {
    const ofOne = later.filter((one) => one.manifestDigest === manifestDigest);
    return publicKey === denial.publicKey || new Set(ofOne.map((one) => one.publicKey)).size >= 2;
  });
}

function describeDenial(denial: Release, people: readonly PolicyPerson[]): Denial {
  const { publicKey, issuedAt, manifestDigest } = denial;
  const person = people.find((one) => one.publicKey === publicKey);
  return {
    by: person?.name ?? `a person who left the policy (${publicKey})`,
    publicKey,
    issuedAt,
    manifestDigest,
  };
}
