/**
 * `approve policy propose`, `statement`, `sign` and `apply`: a change of the policy that people of the policy in effect sign.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  type AppliedPolicy,
  computePolicyChangeText,
  countRequiredPeople,
  type Ledger,
  listPolicySigners,
  type PolicyChange,
  type PolicySignature,
  parseAppliedPolicy,
  parsePolicyChangeText,
  signPolicyChange,
} from '@pool/policy';
import { readPolicyFile } from '../config/settings-files.ts';
import { readSigned, type SigningOptions } from './manifest-argument.ts';
import type { CommonOptions, LedgerCall, Outcome } from './output.ts';

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
