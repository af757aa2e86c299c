/**
 * The signed word of a person about a batch that waits. It names the manifest and what it pays, so no word counts for another batch.
 *
 * @module
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import {
  bytesToHex,
  canonicalJson,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  hexToBytes,
  isAmountString,
  isoTimeSchema,
  maxEvidenceSkewMs,
  parseEvmAddress,
  parseStrictJson,
} from '@pool/core';
import * as v from 'valibot';
import type { Release } from '../ledger/ledger-view.ts';
import type { Policy, PolicyPerson } from '../policy/policy-schema.ts';
import type { RebuiltFund } from '../rebuild/rebuilt.ts';

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
export type ReleaseContent = Omit<Release, 'publicKey' | 'signature'>;

/** The `purpose` of every statement. It keeps the signature from counting anywhere else. */
const releasePurpose = 'pool/v1/release';

/** What a person's key signs: one line of canonical JSON with its newline, so that a text file with it can be signed as it is. */
export function computeReleaseText(content: ReleaseContent): string {
  const { manifestDigest, total, token, decision, issuedAt } = content;
  const statement = { purpose: releasePurpose, manifestDigest, total, token, decision, issuedAt };
  return `${canonicalJson(statement)}\n`;
}

const statementSchema = v.strictObject({
  ...v.omit(releaseSchema, ['publicKey', 'signature']).entries,
  purpose: v.literal(releasePurpose),
});

/** Reads {@link computeReleaseText} back. @returns undefined for every other text, also for one with other spaces */
export function parseReleaseText(text: string): ReleaseContent | undefined {
  let parsed: unknown;
  try {
    parsed = parseStrictJson(text, 'the statement');
  } catch {
    return undefined;
  }
  const result = v.safeParse(statementSchema, parsed);
  if (!result.success) {
    return undefined;
  }
  const { purpose: _, ...content } = result.output;
  return computeReleaseText(content) === text ? content : undefined;
}

/** @param privateKey - Ed25519 key of the person */
export function signRelease(content: ReleaseContent, privateKey: KeyObject): Release {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    ...content,
    publicKey: bytesToHex(Buffer.from(x ?? '', 'base64url')),
    signature: bytesToHex(sign(null, Buffer.from(computeReleaseText(content)), privateKey)),
  };
}

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
  return hasValidSignature(release)
    ? { kind: 'valid', person }
    : { kind: 'refused', message: 'the signature is not that of the key over this release' };
}

function hasValidSignature(release: Release): boolean {
  try {
    const x = Buffer.from(hexToBytes(release.publicKey, 32)).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const text = Buffer.from(computeReleaseText(release));
    return verify(null, text, key, hexToBytes(release.signature, 64));
  } catch {
    return false;
  }
}

export type ReleaseCount = {
  /** The people whose keys released this batch. Two names with one key count once. */
  readonly releasedBy: readonly PolicyPerson[];
  /** Name of a person who denied it. */
  readonly deniedBy: string | undefined;
};

/** Counts the valid words about a batch. Each is verified again, because the policy may have changed since. */
export function countReleases(
  releases: readonly Release[],
  batch: Pick<RebuiltFund, 'manifestDigest' | 'total' | 'token'>,
  policy: Policy,
  nowMs: number,
): ReleaseCount {
  const people = new Map<string, PolicyPerson>();
  let deniedBy: string | undefined;
  for (const release of releases) {
    const isOfBatch =
      release.manifestDigest === batch.manifestDigest &&
      release.total === String(batch.total) &&
      release.token === batch.token;
    const verdict = isOfBatch ? verifyRelease(release, policy, nowMs) : undefined;
    if (verdict?.kind === 'valid' && release.decision === 'deny') {
      deniedBy ??= verdict.person.name;
    } else if (verdict?.kind === 'valid') {
      people.set(release.publicKey, verdict.person);
    }
  }
  return { releasedBy: [...people.values()], deniedBy };
}
