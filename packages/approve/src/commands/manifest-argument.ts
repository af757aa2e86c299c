/**
 * The manifest that an operator names: the digest of a stored one, a file, or `-` for standard input.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import {
  describeCause,
  isPoolError,
  type ManifestFile,
  manifestFileSchema,
  PoolError,
  parseStrictJson,
  parseWire,
} from '@pool/core';
import type { Ledger, StoredManifest } from '@pool/policy';
import { describeInput } from '../config/env-file.ts';
import type { LedgerCall } from './output.ts';

/** @throws PoolError `invalid_request` for a file that is no manifest file, `manifest_unknown` */
export function readManifestArgument({
  argument: text = '',
  ledger,
  source,
}: LedgerCall): ManifestFile {
  if (text === '-' || existsSync(text)) {
    return readManifestFile(text, source);
  }
  if (!/^(?:0x)?[0-9a-f]{1,64}$/i.test(text)) {
    throw new PoolError(
      'manifest_unknown',
      `${text} is not a file, and not the digest of a manifest; "pool-approve manifests" lists those that are stored`,
    );
  }
  const { manifestDigest } = findStored(ledger, text);
  const file = ledger.readFile(manifestDigest);
  if (file === undefined) {
    throw new PoolError(
      'manifest_unknown',
      'the content of this manifest was erased after its retention',
    );
  }
  return file;
}

function readManifestFile(path: string, source: LedgerCall['source']): ManifestFile {
  const name = describeInput(path);
  try {
    return parseWire(
      manifestFileSchema,
      parseStrictJson(source.readFile(path), name),
      'manifest file',
    );
  } catch (cause) {
    const problem = isPoolError(cause)
      ? `${cause.message.startsWith(name) ? '' : `${name}: `}${cause.message}`
      : `${name} cannot be read${describeCause(cause)}`;
    throw new PoolError(
      'invalid_request',
      `${problem}; give the file that the agent posts to the gate, or the digest of a stored one`,
      { cause },
    );
  }
}

/**
 * A stored manifest by what an operator types.
 *
 * @param text - the digest, or its first characters if they name one manifest only
 * @throws PoolError `manifest_unknown`
 */
export function findStored(ledger: Ledger, text = ''): StoredManifest {
  const prefix = text.startsWith('0x') ? text.toLowerCase() : `0x${text.toLowerCase()}`;
  const found =
    prefix.length >= 10
      ? ledger.listManifests().filter(({ manifestDigest }) => manifestDigest.startsWith(prefix))
      : [];
  const [only] = found;
  if (only !== undefined && found.length === 1) {
    return only;
  }
  throw new PoolError(
    'manifest_unknown',
    found.length === 0
      ? 'no stored manifest has this digest; "pool-approve manifests" lists them'
      : `${found.length} manifests begin with this; give more characters`,
  );
}
