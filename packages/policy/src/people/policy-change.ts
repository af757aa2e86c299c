/**
 * The signed word of a person about a change of the policy. It names the new file, the one that it follows, and the number of the change,
 * so that no word counts for another file or for a second change to the same file.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import {
  canonicalJson,
  isoTimeSchema,
  maxEvidenceSkewMs,
  PoolError,
  parseStrictJson,
} from '@pool/core';
import * as v from 'valibot';
import { type Policy, type PolicyPerson, parsePolicy } from '../policy/policy-schema.ts';
import { isSignedText, signText } from './person-key.ts';

/** A policy that took effect. */
export type AppliedPolicy = {
  /** From 1. */
  readonly number: number;
  /** SHA-256 of the file's bytes, hex. */
  readonly sha256: string;
  readonly text: string;
};

/** What a person signs. */
export type PolicyChange = {
  readonly sha256: string;
  /** Of the policy that is in effect. */
  readonly previous: string;
  readonly number: number;
  /** ISO 8601 UTC. */
  readonly issuedAt: string;
};

export type PolicySignature = PolicyChange & {
  /** Ed25519, 32 bytes of hex. */
  readonly publicKey: string;
  /** Ed25519 over {@link computePolicyChangeText}, 64 bytes of hex. */
  readonly signature: string;
};

/** The `purpose` of every statement. It keeps the signature from counting anywhere else. */
const purpose = 'pool/v1/policy-change';

const digestSchema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const statementSchema = v.strictObject({
  purpose: v.literal(purpose),
  sha256: digestSchema,
  previous: digestSchema,
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  issuedAt: v.pipe(isoTimeSchema, v.maxLength(32)),
});

/** What a person's key signs: one line of canonical JSON with its newline. */
export function computePolicyChangeText(change: PolicyChange): string {
  const { sha256, previous, number, issuedAt } = change;
  return `${canonicalJson({ purpose, sha256, previous, number, issuedAt })}\n`;
}

/** Reads {@link computePolicyChangeText} back. @returns undefined for every other text */
export function parsePolicyChangeText(text: string): PolicyChange | undefined {
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
  const { purpose: _, ...change } = result.output;
  return computePolicyChangeText(change) === text ? change : undefined;
}

/** @param privateKey - Ed25519 key of the person */
export function signPolicyChange(change: PolicyChange, privateKey: KeyObject): PolicySignature {
  return { ...change, ...signText(computePolicyChangeText(change), privateKey) };
}

/** How many people must sign a change of this policy. Zero: whoever writes the file changes it. */
export function countRequiredPeople(policy: Policy): number {
  return policy.policyChange?.people ?? 0;
}

/**
 * The people of the policy in effect who signed that this file follows it. Two names with one key count once.
 * @throws PoolError `invalid_policy` if the policy in effect cannot be read by this version
 */
export function listPolicySigners(
  signatures: readonly PolicySignature[],
  sha256: string,
  applied: AppliedPolicy,
  nowMs: number,
): readonly PolicyPerson[] {
  const { humanRelease } = parseAppliedPolicy(applied);
  const valid = signatures.filter(
    (one) =>
      one.sha256 === sha256 &&
      one.previous === applied.sha256 &&
      one.number === applied.number + 1 &&
      Date.parse(one.issuedAt) <= nowMs + maxEvidenceSkewMs &&
      isSignedText(computePolicyChangeText(one), one.publicKey, one.signature),
  );
  const keys = new Set(valid.map(({ publicKey }) => publicKey));
  return (humanRelease?.people ?? []).filter(({ publicKey }) => keys.delete(publicKey));
}

/** @throws PoolError `invalid_policy` */
export function parseAppliedPolicy({ sha256, text }: AppliedPolicy): Policy {
  try {
    return parsePolicy(parseStrictJson(text, 'the policy in effect'));
  } catch (cause) {
    throw new PoolError(
      'invalid_policy',
      `the ledger's policy in effect (sha256 ${sha256}) cannot be read by this version; start the version that applied it, and change the policy with it`,
      { cause },
    );
  }
}
