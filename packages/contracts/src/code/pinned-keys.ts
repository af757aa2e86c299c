/**
 * The verification keys that a manifest pins, from the folder that `pool-circuits fetch` filled.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CircuitName, circuitNames, PoolError } from '@pool/core';
import { developmentKeyWords } from '../generated/development-keys.ts';
import { type CircuitKey, parseKeyWords } from './key-words.ts';

/** Words of `parseKeyWords` by circuit. Public. */
export type CircuitKeys = Readonly<Partial<Record<CircuitName, readonly string[]>>>;

export type KeySource = {
  /** It has a folder for each circuit. */
  readonly folder: string;
  readonly manifest: string;
};

/** What is read of a manifest. Nothing in it is certain. */
type Manifest = {
  readonly circuits?: Readonly<
    Partial<Record<string, { readonly sha256?: { readonly verificationKey?: unknown } }>>
  >;
};

/**
 * A circuit that the manifest does not pin, or whose file is missing, has no key.
 * @param source - undefined: the development keys
 * @throws PoolError `invalid_option`, `artifact_malformed`, `artifact_refused`, `verification_key_malformed`
 */
export async function readPinnedKeys(source: KeySource | undefined): Promise<CircuitKeys> {
  if (source === undefined) return developmentKeyWords;
  const manifest = await readManifest(source.manifest);
  const keys: Partial<Record<CircuitName, readonly string[]>> = {};
  for (const circuit of circuitNames) {
    const expected = manifest.circuits?.[circuit]?.sha256?.verificationKey;
    const path = join(source.folder, circuit, 'verification-key.json');
    const json = await readFile(path, 'utf8').catch(() => undefined);
    if (expected === undefined || json === undefined) continue;
    if (createHash('sha256').update(json).digest('hex') !== expected) {
      throw new PoolError(
        'artifact_refused',
        `${path} is not the file that the manifest pins. Fetch it again and find out who changed it.`,
      );
    }
    // The file was compared with the manifest just before, and its shape is checked with its words.
    keys[circuit] = parseKeyWords(JSON.parse(json) as CircuitKey);
  }
  return keys;
}

async function readManifest(path: string): Promise<Manifest> {
  let json: string;
  try {
    json = await readFile(path, 'utf8');
  } catch (cause) {
    throw new PoolError('invalid_option', `The manifest of keys ${path} cannot be read.`, {
      cause,
    });
  }
  try {
    return JSON.parse(json) as Manifest;
  } catch (cause) {
    throw new PoolError(
      'artifact_malformed',
      `The manifest of keys ${path} is not JSON. Use the manifest that was published with the keys.`,
      { cause },
    );
  }
}
