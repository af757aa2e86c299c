/**
 * What an operator names: a manifest (the digest of a stored one, a file, or `-` for standard input), a person's key, or what a person
 * signed elsewhere.
 *
 * @module
 */

import type { KeyObject } from 'node:crypto';
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
import {
  type Ledger,
  type PersonSignature,
  type PolicyPerson,
  parsePersonKey,
  type StoredManifest,
} from '@pool/policy';
import { type ConfigSource, describeInput, findModeProblem } from '../config/gate-home.ts';
import type { Call, CommonOptions, LedgerCall } from './output.ts';

// What people give to commands: their key, or what they signed on a machine of their own.

/** Either the key, or a statement that was signed on another machine. */
export type SigningOptions = {
  readonly keyFile?: string;
  readonly statement?: string;
  readonly signature?: string;
};

/**
 * The signed word of a person: made with the key, or a statement that was signed elsewhere and counts for a person.
 * @param word.adopt - the content of a statement. It throws unless the statement is about the same
 * @param word.refusal - what a statement lacks that counts for nobody
 * @throws PoolError `invalid_release`
 */
export function readSigned<TContent extends object>(
  { options: { keyFile, statement, signature }, source }: Call<CommonOptions & SigningOptions>,
  word: {
    readonly sign: (key: KeyObject) => TContent & PersonSignature;
    readonly adopt: (text: string) => TContent;
    readonly people: readonly PolicyPerson[];
    readonly counts: (signed: TContent & PersonSignature) => boolean;
    readonly refusal: string;
  },
): TContent & PersonSignature {
  if (keyFile !== undefined && statement === undefined && signature === undefined) {
    return word.sign(readPersonKey(keyFile, source));
  }
  if (keyFile !== undefined || statement === undefined || signature === undefined) {
    throw new PoolError(
      'invalid_release',
      'give --key-file, or --statement and --signature together, and not both',
    );
  }
  const content = word.adopt(readText(statement, 'statement', source));
  const hex = parseSignature(signature);
  const signed = word.people
    .map(({ publicKey }) => ({ ...content, publicKey, signature: hex }))
    .find((one) => word.counts(one));
  if (signed === undefined) {
    throw new PoolError('invalid_release', `the statement does not count: ${word.refusal}`);
  }
  return signed;
}

/** @returns 64 bytes of hex */
function parseSignature(signature: string): string {
  const hex = signature.toLowerCase().replace(/^0x/, '');
  if (!/^[0-9a-f]{128}$/.test(hex)) {
    throw new PoolError(
      'invalid_release',
      '--signature is not an Ed25519 signature: 64 bytes of hex',
    );
  }
  return `0x${hex}`;
}

function readText(path: string, what: string, source: ConfigSource): string {
  try {
    return source.readFile(path);
  } catch (cause) {
    throw new PoolError(
      'invalid_release',
      `the ${what} file ${path} cannot be read${describeCause(cause)}`,
      { cause },
    );
  }
}

/** PKCS#8 PEM, or the 32 bytes of an Ed25519 seed as hex. */
export function readPersonKey(path: string, source: ConfigSource): KeyObject {
  const open = findModeProblem(source, path);
  if (open !== undefined) {
    throw new PoolError('invalid_release', `the key file is not private: ${open}`);
  }
  const key = parsePersonKey(readText(path, 'key', source));
  if (key !== undefined) {
    return key;
  }
  throw new PoolError(
    'invalid_release',
    `the key file ${path} is not an Ed25519 private key: PKCS#8 PEM, or 32 bytes of hex`,
  );
}

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
