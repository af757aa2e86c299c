/**
 * The signed word of a person that a restored ledger may vote again although some approvals at the custodian cannot be described. The audit log
 * keeps it.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import type { Hex } from '@pool/core';
import * as v from 'valibot';
import type { Policy, PolicyPerson } from '../policy/policy-schema.ts';
import { createStatement } from './statement.ts';

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
