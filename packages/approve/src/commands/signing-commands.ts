/**
 * What people sign: their word about a batch that waits (`approve statement`, `release` and `deny`), and a change of the policy (`approve
 * policy propose`, `statement`, `sign` and `apply`).
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  type AppliedPolicy,
  computePolicyChangeText,
  computeReleaseText,
  countRequiredPeople,
  describeAmount,
  findTokenUnit,
  type Ledger,
  listPolicySigners,
  type Policy,
  type PolicyChange,
  type PolicySignature,
  parseAppliedPolicy,
  parsePolicyChangeText,
  parseReleaseText,
  type Release,
  type ReleaseContent,
  type StoredManifest,
  signPolicyChange,
  signRelease,
  verifyRelease,
} from '@pool/policy';
import { readPolicyFile } from '../config/settings-files.ts';
import { findStored, readSigned, type SigningOptions } from './manifest-argument.ts';
import type { CommonOptions, LedgerCall, Outcome } from './output.ts';

// `approve statement`, `release` and `deny`: a person's signed word about a batch that waits. The gate verifies it against its policy
// each time it judges the batch.

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

/** Stores a policy file, so that people can sign it. The argument is the file, or `-` for standard input. */
export function runPolicyPropose(call: LedgerCall): Outcome {
  const { ledger, argument = '', voteLimitSeconds, source, nowMs } = call;
  const loaded = readPolicyFile(argument, { voteLimitSeconds, readFile: source.readFile });
  ledger.policies.propose(loaded, nowMs());
  const { sha256 } = loaded;
  const progress = describeProgress(ledger, sha256, nowMs());
  return { document: { sha256, ...progress }, text: `Proposed ${sha256}. ${progress.text}` };
}

/** Prints what a person signs on a machine of their own. */
export function runPolicyStatement({ ledger, argument = '', nowMs }: LedgerCall): Outcome {
  const change = describeChange(ledger, argument, nowMs());
  // The output ends every text with the newline that belongs to the statement.
  return { text: computePolicyChangeText(change).trimEnd() };
}

export function runPolicySign(call: LedgerCall<CommonOptions & SigningOptions>): Outcome {
  const { ledger, argument: sha256 = '' } = call;
  const nowMs = call.nowMs();
  const change = describeChange(ledger, sha256, nowMs);
  const applied = requireApplied(ledger);
  const counts = (one: PolicySignature): boolean =>
    listPolicySigners([one], sha256, applied, nowMs).length > 0;
  const refusal =
    'it is not what "policy statement" prints now for this digest, byte for byte, or no person of the policy in effect signed it';
  const signature = readSigned(call, {
    sign: (key) => signPolicyChange(change, key),
    adopt(text) {
      const signed = parsePolicyChangeText(text);
      if (signed === undefined) {
        throw new PoolError('invalid_release', `the statement does not count: ${refusal}`);
      }
      return signed;
    },
    people: parseAppliedPolicy(applied).humanRelease?.people ?? [],
    counts,
    refusal,
  });
  if (!counts(signature)) {
    throw new PoolError(
      'invalid_release',
      `the key is not that of a person of the policy in effect; its public key is ${signature.publicKey}`,
    );
  }
  ledger.policies.sign(signature, nowMs);
  const progress = describeProgress(ledger, sha256, nowMs);
  return { document: { sha256, ...progress }, text: progress.text };
}

/** Puts a signed policy in effect. The operator installs its file. */
export function runPolicyApply({
  ledger,
  argument: sha256 = '',
  policyFile,
  nowMs,
}: LedgerCall): Outcome {
  const signedBy = ledger.policies.apply(sha256, nowMs()).map(({ name }) => name);
  return {
    document: { sha256, signedBy },
    text: `${sha256} is in effect, signed by ${signedBy.join(', ') || 'nobody, because nobody is required'}. Install the file as ${policyFile}, and reload the gate; until then it uses the earlier one, and does not start with it.`,
  };
}

function requireApplied(ledger: Ledger): AppliedPolicy {
  const applied = ledger.policies.findApplied();
  if (applied === undefined) {
    throw new PoolError('policy_not_signed', 'no policy is in effect; start the gate once');
  }
  return applied;
}

function describeChange(ledger: Ledger, sha256: string, nowMs: number): PolicyChange {
  if (!ledger.policies.has(sha256)) {
    throw new PoolError(
      'policy_not_signed',
      'no policy with this digest was proposed; run "policy propose" with its file',
    );
  }
  const { sha256: previous, number } = requireApplied(ledger);
  return { sha256, previous, number: number + 1, issuedAt: new Date(nowMs).toISOString() };
}

function describeProgress(ledger: Ledger, sha256: string, nowMs: number) {
  const applied = requireApplied(ledger);
  const signatures = ledger.policies.listSignatures(sha256);
  const signedBy = listPolicySigners(signatures, sha256, applied, nowMs).map(({ name }) => name);
  const required = countRequiredPeople(parseAppliedPolicy(applied));
  const next = signedBy.length < required ? 'policy sign' : 'policy apply';
  return {
    required,
    signedBy,
    text: `Signed by ${signedBy.join(', ') || 'nobody'}; ${required} needed. Next: "${next} ${sha256}".`,
  };
}
