/**
 * What people give to commands: their key, or what they signed on a machine of their own.
 *
 * @module
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { describeCause, PoolError } from '@pool/core';
import { findModeProblem } from '../config/env-file.ts';
import type { CommandContext } from './output.ts';

/** Either the key, or a statement that was signed on another machine. */
export type SigningOptions = {
  readonly keyFile?: string;
  readonly statement?: string;
  readonly signature?: string;
};

/** @returns 64 bytes of hex. @throws PoolError `invalid_release` */
export function parseSignature(signature: string): string {
  const hex = signature.toLowerCase().replace(/^0x/, '');
  if (!/^[0-9a-f]{128}$/.test(hex)) {
    throw new PoolError(
      'invalid_release',
      '--signature is not an Ed25519 signature: 64 bytes of hex',
    );
  }
  return `0x${hex}`;
}

export function readSignedText(path: string, what: string, { source }: CommandContext): string {
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
export function readPersonKey(path: string, context: CommandContext): KeyObject {
  const open = findModeProblem(context.source, path);
  if (open !== undefined) {
    throw new PoolError('invalid_release', `the key file is not private: ${open}`);
  }
  const text = readSignedText(path, 'key', context).trim();
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
