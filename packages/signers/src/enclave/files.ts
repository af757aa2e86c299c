/**
 * The files of `pool-enclave`: read with a limit and with their permissions checked, written once and only for their owner.
 *
 * @module
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  bytesToHex,
  hexToBytes,
  isPoolError,
  parseStrictJson,
  parseWire,
  Secret,
} from '@pool/core';
import { createDurableFile } from '@pool/storage';
import * as v from 'valibot';
import type { DevelopmentRoot } from '../attestation/development-attestation.ts';
import { invalidConfiguration } from '../config.ts';

const maxFileBytes = 4 * 2 ** 20;

/** @throws PoolError `invalid_configuration` */
export function readJsonFile(path: string): unknown {
  const text = readBytes(path).toString('utf8');
  try {
    return parseStrictJson(text, path);
  } catch (error) {
    throw isPoolError(error) ? invalidConfiguration(error.message) : error;
  }
}

/** A file that only its owner may read. @throws PoolError `invalid_configuration` */
export function readPrivateFile(path: string): Secret<Buffer> {
  return new Secret(readBytes(path, true));
}

/**
 * A sealing secret: the bytes of the file without white space at its end, so that both `openssl rand -hex 32` and raw bytes work.
 * @throws PoolError `invalid_configuration`
 */
export function readSealingSecret(path: string): Secret<Uint8Array> {
  const bytes = readPrivateFile(path).reveal();
  const end = bytes.findLastIndex((byte) => ![0x0a, 0x0d, 0x20].includes(byte));
  return new Secret(Uint8Array.from(bytes.subarray(0, end + 1)));
}

/** Makes a file of mode 0600, and never replaces one. @throws PoolError `invalid_configuration`, `disk_full` */
export function writePrivateFile(path: string, content: string): void {
  let isMade = false;
  try {
    isMade = createDurableFile(path, `${content}\n`);
  } catch (error) {
    if (isPoolError(error)) {
      throw error;
    }
  }
  if (!isMade) {
    throw invalidConfiguration(
      `${path} cannot be made; it exists already, or its directory does not`,
    );
  }
}

const developmentRootSchema = v.strictObject({
  kind: v.literal('INSECURE-development-root'),
  certificate: v.pipe(v.string(), v.maxLength(4096), v.regex(/^0x(?:[0-9a-f]{2})+$/)),
  privateKey: v.pipe(v.string(), v.maxLength(4096)),
});

export function serializeDevelopmentRoot({ certificate, privateKey }: DevelopmentRoot): string {
  const content: v.InferInput<typeof developmentRootSchema> = {
    kind: 'INSECURE-development-root',
    certificate: bytesToHex(certificate),
    privateKey,
  };
  return JSON.stringify(content, undefined, 2);
}

/** @throws PoolError `invalid_request` */
export function parseDevelopmentRoot(value: unknown): DevelopmentRoot {
  const { certificate, privateKey } = parseWire(developmentRootSchema, value, 'development root');
  return { certificate: hexToBytes(certificate), privateKey };
}

function readBytes(path: string, isPrivate = false): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    throw invalidConfiguration(`${path} cannot be read`);
  }
  try {
    const status = fstatSync(file);
    if (isPrivate && status.isFile() && (status.mode & 0o077) !== 0) {
      throw invalidConfiguration(`${path} can be read by other users; run "chmod 600 ${path}"`);
    }
    const buffer = Buffer.alloc(maxFileBytes + 1);
    let length = 0;
    // A pipe, for example from a key management service, arrives in pieces.
    for (let read = 1; read > 0 && length <= maxFileBytes; length += read) {
      read = readSync(file, buffer, length, buffer.length - length, null);
    }
    if (length > maxFileBytes) {
      throw invalidConfiguration(`${path} has more than ${maxFileBytes} bytes`);
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
