/**
 * `approve release` and `approve deny`: a person's signed word about a batch that waits. The gate verifies it against its policy each
 * time it judges the batch.
 *
 * @module
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { PoolError } from '@pool/core';
import {
  type Ledger,
  type Policy,
  type StoredManifest,
  signRelease,
  verifyRelease,
} from '@pool/policy';
import { describeCause } from '../config/env-file.ts';
import { readPolicyFile } from '../gate/settings-files.ts';
import { findStored } from './find-stored.ts';
import { withLedger } from './open-files.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

export type ReleaseOptions = CommonOptions & { readonly keyFile: string };

/** @returns the exit code */
export async function runRelease(
  decision: 'release' | 'deny',
  manifest: string,
  options: ReleaseOptions,
  context: CommandContext,
): Promise<number> {
  const key = readKey(options.keyFile, context);
  return await withLedger(context, options, (ledger, { policyFile }) => {
    const { policy } = readPolicyFile(policyFile);
    const stored = findStored(ledger, manifest);
    const name = putRelease({ ledger, policy, stored, decision, key, nowMs: context.nowMs() });
    const word = decision === 'release' ? 'released' : 'denied';
    print(
      context,
      options,
      { manifestDigest: stored.manifestDigest, decision, person: name },
      `${name} ${word} ${stored.manifestDigest}. The gate reads it at its next look.`,
    );
    return exitCodes.ok;
  });
}

function putRelease(input: {
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly stored: StoredManifest;
  readonly decision: 'release' | 'deny';
  readonly key: KeyObject;
  readonly nowMs: number;
}): string {
  const { ledger, policy, stored, decision, key, nowMs } = input;
  if (stored.batch === undefined) {
    throw new PoolError(
      'invalid_release',
      'the manifest is of a spend; people release batches only',
    );
  }
  const release = signRelease(
    {
      manifestDigest: stored.manifestDigest,
      total: String(stored.batch.total),
      token: stored.token,
      decision,
      issuedAt: new Date(nowMs).toISOString(),
    },
    key,
  );
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

/** PKCS#8 PEM, or the 32 bytes of an Ed25519 seed as hex. */
function readKey(path: string, { source }: CommandContext): KeyObject {
  let text: string;
  try {
    text = source.readFile(path).trim();
  } catch (cause) {
    throw new PoolError(
      'invalid_release',
      `the key file ${path} cannot be read${describeCause(cause)}`,
      { cause },
    );
  }
  const [, seed] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? [];
  try {
    const key =
      seed === undefined
        ? createPrivateKey(text)
        : createPrivateKey({
            // The fixed beginning of an Ed25519 key in PKCS#8 (RFC 8410).
            key: Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'),
            format: 'der',
            type: 'pkcs8',
          });
    if (key.asymmetricKeyType === 'ed25519') {
      return key;
    }
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
  }
  throw new PoolError(
    'invalid_release',
    `the key file ${path} is not an Ed25519 private key: PKCS#8 PEM, or 32 bytes of hex`,
  );
}
