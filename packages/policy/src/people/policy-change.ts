/**
 * The signed word of a person about a change of the policy. It names the new file, the one that it follows, and the number of the change,
 * so that no word counts for another file or for a second change to the same file.
 *
 * @module
 */

import type { KeyObject } from 'node:crypto';
import { type Hex, isoTimeSchema, maxEvidenceSkewMs, PoolError, parseStrictJson } from '@pool/core';
import * as v from 'valibot';
import { type Policy, type PolicyPerson, parsePolicy } from '../policy/policy-schema.ts';
import { createStatement, type PersonSignature } from './statement.ts';

// The signed word of a person that a restored ledger may vote again although some approvals at the custodian cannot be described. The audit log
// keeps it.

export type AcceptedLoss = {
  readonly person: PolicyPerson;
  /** What was signed: canonical JSON with its newline. */
  readonly statement: string;
  readonly signature: Hex;
};

const loss = createStatement('pool/v1/rebaseline', {
  unknown: v.array(v.string()),
  issuedAt: v.string(),
});

/**
 * @param unknown - ids of the approvals at the custodian
 * @param privateKey - Ed25519 key of the person
 * @returns undefined unless the policy lists the person
 */
export function acceptLoss(
  unknown: readonly string[],
  policy: Policy,
  privateKey: KeyObject,
  nowMs: number,
): AcceptedLoss | undefined {
  const content = { unknown: unknown.toSorted(), issuedAt: new Date(nowMs).toISOString() };
  const { publicKey, signature } = loss.sign(content, privateKey);
  const person = policy.humanRelease?.people.find((one) => one.publicKey === publicKey);
  return person === undefined ? undefined : { person, statement: loss.compute(content), signature };
}

/** A policy that took effect. */
export type AppliedPolicy = {
  /** From 1. */
  readonly number: number;
  /** SHA-256 of the file's bytes, hex. */
  readonly sha256: string;
  readonly text: string;
};

const digestSchema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const statement = createStatement('pool/v1/policy-change', {
  sha256: digestSchema,
  /** Of the policy that is in effect. */
  previous: digestSchema,
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  issuedAt: v.pipe(isoTimeSchema, v.maxLength(32)),
});

export const {
  compute: computePolicyChangeText,
  parse: parsePolicyChangeText,
  sign: signPolicyChange,
} = statement;

/** What a person signs. */
export type PolicyChange = Parameters<typeof computePolicyChangeText>[0];
export type PolicySignature = PolicyChange & PersonSignature;

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
      statement.isSigned(one),
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
