/**
 * The signed word of a person that a restored ledger may vote again although some approvals at the custodian cannot be described. The audit log
 * keeps it.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { canonicalJson, type Hex } from '@pool/core';
import type { Policy, PolicyPerson } from '../policy/policy-schema.ts';
import { signText } from './person-key.ts';

export type AcceptedLoss = {
  readonly person: PolicyPerson;
  /** What was signed: canonical JSON with its newline. */
  readonly statement: string;
  readonly signature: Hex;
};

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
  const statement = `${canonicalJson({
    purpose: 'pool/v1/rebaseline',
    unknown: unknown.toSorted(),
    issuedAt: new Date(nowMs).toISOString(),
  })}\n`;
  const { publicKey, signature } = signText(statement, privateKey);
  const person = policy.humanRelease?.people.find((one) => one.publicKey === publicKey);
  return person === undefined ? undefined : { person, statement, signature };
}
