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
import { findStored } from './manifest-argument.ts';
import { type CommandContext, type CommonOptions, exitCodes, print, withLedger } from './output.ts';
import {
  parseSignature,
  readPersonKey,
  readSignedText,
  type SigningOptions,
} from './person-key.ts';

type Decision = ReleaseContent['decision'];

export type ReleaseOptions = CommonOptions & SigningOptions;

/** Prints what a person signs on a machine of their own. @returns the exit code */
export async function runStatement(
  manifest: string,
  options: CommonOptions & { readonly deny?: boolean },
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const stored = findStored(ledger, manifest);
    const content = describeStored(stored, options.deny === true ? 'deny' : 'release', context);
    // The output ends every text with the newline that belongs to the statement.
    context.streams.out(computeReleaseText(content).trimEnd());
    return exitCodes.ok;
  });
}

/** @returns the exit code */
export async function runRelease(
  decision: Decision,
  manifest: string,
  options: ReleaseOptions,
  context: CommandContext,
): Promise<number> {
  const sign = readSigning(options, context);
  return await withLedger(context, options, (ledger, { policyFile }) => {
    const { policy } = readPolicyFile(policyFile);
    const stored = findStored(ledger, manifest);
    const release = sign(describeStored(stored, decision, context), policy);
    const name = addRelease(release, ledger, policy, context.nowMs());
    const word = decision === 'release' ? 'released' : 'denied';
    print(
      context,
      options,
      { manifestDigest: stored.manifestDigest, decision, person: name },
      `${name} ${word} ${stored.manifestDigest}, total ${describeTotal(release, stored, policy)}. The gate reads it at its next look.`,
    );
    return exitCodes.ok;
  });
}

function describeTotal(
  { total, token }: ReleaseContent,
  { chainId, pool }: StoredManifest,
  policy: Policy,
): string {
  return describeAmount(BigInt(total), findTokenUnit(policy, { chainId, pool, token }));
}

function describeStored(
  stored: StoredManifest,
  decision: Decision,
  { nowMs }: CommandContext,
): ReleaseContent {
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
    issuedAt: new Date(nowMs()).toISOString(),
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

type Sign = (content: ReleaseContent, policy: Policy) => Release;

function readSigning(options: ReleaseOptions, context: CommandContext): Sign {
  const { keyFile, statement, signature } = options;
  if (keyFile !== undefined && statement === undefined && signature === undefined) {
    const key = readPersonKey(keyFile, context);
    return (content) => signRelease(content, key);
  }
  if (keyFile === undefined && statement !== undefined && signature !== undefined) {
    const text = readSignedText(statement, 'statement', context);
    return (content, policy) => adoptStatement({ content, policy, text, signature, context });
  }
  throw new PoolError(
    'invalid_release',
    'give --key-file, or --statement and --signature together, and not both',
  );
}

/** A statement that was signed elsewhere counts if it says the same about the same batch, and a person of the policy signed it. */
function adoptStatement(input: {
  readonly content: ReleaseContent;
  readonly policy: Policy;
  readonly text: string;
  readonly signature: string;
  readonly context: CommandContext;
}): Release {
  const { content, policy, text, signature, context } = input;
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
  const hex = parseSignature(signature);
  for (const { publicKey } of policy.humanRelease?.people ?? []) {
    const release: Release = { ...signed, publicKey, signature: hex };
    if (verifyRelease(release, policy, context.nowMs()).kind === 'valid') {
      return release;
    }
  }
  throw new PoolError(
    'invalid_release',
    'the statement does not count: the signature is not that of a person of the policy, or the statement is dated ahead',
  );
}
