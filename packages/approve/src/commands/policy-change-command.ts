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
import { type CommandContext, type CommonOptions, exitCodes, print, withLedger } from './output.ts';
import {
  parseSignature,
  readPersonKey,
  readSignedText,
  type SigningOptions,
} from './person-key.ts';

/** Stores a policy file, so that people can sign it. @param file - `-` for standard input. @returns the exit code */
export async function runPolicyPropose(
  file: string,
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger, { voteLimitSeconds }) => {
    const { readFile } = context.source;
    const loaded = readPolicyFile(file, { voteLimitSeconds, readFile });
    ledger.policies.propose(loaded, context.nowMs());
    const { sha256 } = loaded;
    const progress = describeProgress(ledger, sha256, context);
    print(context, options, { sha256, ...progress }, `Proposed ${sha256}. ${progress.text}`);
    return exitCodes.ok;
  });
}

/** Prints what a person signs on a machine of their own. @returns the exit code */
export async function runPolicyStatement(
  sha256: string,
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const change = describeChange(ledger, sha256, context);
    // The output ends every text with the newline that belongs to the statement.
    context.streams.out(computePolicyChangeText(change).trimEnd());
    return exitCodes.ok;
  });
}

/** @returns the exit code */
export async function runPolicySign(
  sha256: string,
  options: CommonOptions & SigningOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const change = describeChange(ledger, sha256, context);
    const signature = readSignature(change, requireApplied(ledger), options, context);
    ledger.policies.sign(signature, context.nowMs());
    const progress = describeProgress(ledger, sha256, context);
    print(context, options, { sha256, ...progress }, progress.text);
    return exitCodes.ok;
  });
}

/** Puts a signed policy in effect. The operator installs its file. @returns the exit code */
export async function runPolicyApply(
  sha256: string,
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger, { policyFile }) => {
    const signedBy = ledger.policies.apply(sha256, context.nowMs()).map(({ name }) => name);
    print(
      context,
      options,
      { sha256, signedBy },
      `${sha256} is in effect, signed by ${signedBy.join(', ') || 'nobody, because nobody is required'}. Install the file as ${policyFile}, and reload the gate; until then it uses the earlier one, and does not start with it.`,
    );
    return exitCodes.ok;
  });
}

function requireApplied(ledger: Ledger): AppliedPolicy {
  const applied = ledger.policies.findApplied();
  if (applied === undefined) {
    throw new PoolError('policy_not_signed', 'no policy is in effect; start the gate once');
  }
  return applied;
}

function describeChange(ledger: Ledger, sha256: string, { nowMs }: CommandContext): PolicyChange {
  if (!ledger.policies.has(sha256)) {
    throw new PoolError(
      'policy_not_signed',
      'no policy with this digest was proposed; run "policy propose" with its file',
    );
  }
  const { sha256: previous, number } = requireApplied(ledger);
  return { sha256, previous, number: number + 1, issuedAt: new Date(nowMs()).toISOString() };
}

function describeProgress(ledger: Ledger, sha256: string, { nowMs }: CommandContext) {
  const applied = requireApplied(ledger);
  const signatures = ledger.policies.listSignatures(sha256);
  const signedBy = listPolicySigners(signatures, sha256, applied, nowMs()).map(({ name }) => name);
  const required = countRequiredPeople(parseAppliedPolicy(applied));
  const next = signedBy.length < required ? 'policy sign' : 'policy apply';
  return {
    required,
    signedBy,
    text: `Signed by ${signedBy.join(', ') || 'nobody'}; ${required} needed. Next: "${next} ${sha256}".`,
  };
}

function readSignature(
  change: PolicyChange,
  applied: AppliedPolicy,
  { keyFile, statement, signature }: SigningOptions,
  context: CommandContext,
): PolicySignature {
  const counts = (one: PolicySignature): boolean =>
    listPolicySigners([one], change.sha256, applied, context.nowMs()).length > 0;
  if (keyFile !== undefined && statement === undefined && signature === undefined) {
    const one = signPolicyChange(change, readPersonKey(keyFile, context));
    if (counts(one)) {
      return one;
    }
    throw new PoolError(
      'invalid_release',
      `the key is not that of a person of the policy in effect; its public key is ${one.publicKey}`,
    );
  }
  if (keyFile !== undefined || statement === undefined || signature === undefined) {
    throw new PoolError(
      'invalid_release',
      'give --key-file, or --statement and --signature together, and not both',
    );
  }
  const signed = parsePolicyChangeText(readSignedText(statement, 'statement', context));
  const hex = parseSignature(signature);
  const people = parseAppliedPolicy(applied).humanRelease?.people ?? [];
  for (const { publicKey } of signed === undefined ? [] : people) {
    const one = { ...change, ...signed, publicKey, signature: hex };
    if (counts(one)) {
      return one;
    }
  }
  throw new PoolError(
    'invalid_release',
    'the statement does not count: it is not what "policy statement" prints now for this digest, byte for byte, or no person of the policy in effect signed it',
  );
}
