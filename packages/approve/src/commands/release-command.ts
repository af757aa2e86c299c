/**
 * `approve statement`, `release` and `deny`: a person's signed word about a batch that waits. The gate verifies it against its policy
 * each time it judges the batch.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  computeReleaseText,
  describeAmount,
  findTokenUnit,
  type Ledger,
  type Policy,
  parseReleaseText,
  type Release,
  type ReleaseContent,
  type StoredManifest,
  signRelease,
  verifyRelease,
} from '@pool/policy';
import { readPolicyFile } from '../config/settings-files.ts';
import { findStored, readSigned, type SigningOptions } from './manifest-argument.ts';
import type { CommonOptions, LedgerCall, Outcome } from './output.ts';

type Decision = ReleaseContent['decision'];

export type ReleaseOptions = CommonOptions & SigningOptions;

/** Prints what a person signs on a machine of their own. */
export function runStatement({
  ledger,
  argument,
  options,
  nowMs,
}: LedgerCall<CommonOptions & { readonly deny?: boolean }>): Outcome {
  const stored = findStored(ledger, argument);
  const content = describeStored(stored, options.deny === true ? 'deny' : 'release', nowMs());
  // The output ends every text with the newline that belongs to the statement.
  return { text: computeReleaseText(content).trimEnd() };
}

export function runRelease(decision: Decision): (call: LedgerCall<ReleaseOptions>) => Outcome {
  return (call) => {
    const { ledger, policyFile, argument } = call;
    const nowMs = call.nowMs();
    const { policy } = readPolicyFile(policyFile);
    const stored = findStored(ledger, argument);
    const content = describeStored(stored, decision, nowMs);
    const release = readSigned(call, {
      sign: (key) => signRelease(content, key),
      adopt: (text) => adoptStatement(text, content),
      people: policy.humanRelease?.people ?? [],
      counts: (one) => verifyRelease(one, policy, nowMs).kind === 'valid',
      refusal:
        'the signature is not that of a person of the policy, or the statement is dated ahead',
    });
    const name = addRelease(release, ledger, policy, nowMs);
    const word = decision === 'release' ? 'released' : 'denied';
    return {
      document: { manifestDigest: stored.manifestDigest, decision, person: name },
      text: `${name} ${word} ${stored.manifestDigest}, total ${describeTotal(release, stored, policy)}. The gate reads it at its next look.`,
    };
  };
}

function describeTotal(
  { total, token }: ReleaseContent,
  { chainId, pool }: StoredManifest,
  policy: Policy,
): string {
  return describeAmount(BigInt(total), findTokenUnit(policy, { chainId, pool, token }));
}

function describeStored(stored: StoredManifest, decision: Decision, nowMs: number): ReleaseContent {
  if (stored.batch === undefined) {
    throw new PoolError(
      'invalid_release',
      'the manifest is of a spend; people release batches only',
    );
  }
  return {
    manifestDigest: stored.manifestDigest,
    total: String(stored.batch.total),
    token: stored.token,
    decision,
    issuedAt: new Date(nowMs).toISOString(),
  };
}

/** @returns the name of the person whose word it is */
function addRelease(release: Release, ledger: Ledger, policy: Policy, nowMs: number): string {
  const verdict = verifyRelease(release, policy, nowMs);
  if (verdict.kind === 'refused') {
    throw new PoolError(
      'invalid_release',
      `the statement does not count: ${verdict.message}; the public key is ${release.publicKey}`,
    );
  }
  ledger.addRelease(release, nowMs);
  return verdict.person.name;
}

/** A statement that was signed elsewhere counts if it says the same about the same batch. */
function adoptStatement(text: string, content: ReleaseContent): ReleaseContent {
  const signed = parseReleaseText(text);
  if (signed === undefined) {
    throw new PoolError(
      'invalid_release',
      'the statement is not what "pool-approve statement" printed, byte for byte; sign that file as it is',
    );
  }
  if (
    computeReleaseText(signed) !== computeReleaseText({ ...content, issuedAt: signed.issuedAt })
  ) {
    throw new PoolError(
      'invalid_release',
      `the statement says ${signed.decision} about ${signed.manifestDigest} with the total ${signed.total} in base units, and this command is about another`,
    );
  }
  return signed;
}
