/**
 * Sealed notes that a holder kept in a file (`pool-notes`). Only their form is checked here: the sync opens each note and compares it with
 * the chain.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { hex32Schema, PoolError, parseWire } from '@pool/core';
import type { DeliveredNote, SyncIdentity } from '@pool/operations';
import * as v from 'valibot';

/** Notes of one file. A note is about 600 bytes of JSON. */
const maxNotes = 200_000;

const place = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 40));

const fileSchema = v.object({
  format: v.literal('pool-notes'),
  version: v.literal(1),
  chainId: v.pipe(v.number(), v.integer()),
  pool: v.pipe(v.string(), v.maxLength(64)),
  walletPub: v.pipe(v.string(), v.maxLength(80)),
  encryptionPublicKey: v.pipe(v.string(), v.maxLength(80)),
  notes: v.pipe(
    v.array(
      v.object({
        token: v.pipe(v.string(), v.maxLength(64)),
        leafIndex: place,
        slot: place,
        commitment: hex32Schema,
        sealed: v.pipe(v.string(), v.regex(/^0x[0-9a-f]{418}$/)),
      }),
    ),
    v.maxLength(maxNotes),
  ),
});

/**
 * @param token - address; notes of other tokens are left out
 * @throws PoolError `notes_file_invalid`
 */
export function readKeptNotes(
  path: string,
  token: string,
  identity: Pick<SyncIdentity, 'chainId' | 'pool' | 'walletPub'>,
): readonly DeliveredNote[] {
  const file = parseFile(path);
  const isOurs =
    file.chainId === identity.chainId &&
    isSameHex(file.pool, identity.pool) &&
    isSameHex(file.walletPub, identity.walletPub);
  if (!isOurs) {
    throw invalid(path, 'it belongs to another chain, pool or holder');
  }
  return file.notes
    .filter((note) => isSameHex(note.token, token))
    .map(({ commitment, sealed, leafIndex, slot }) => ({
      ...{ commitment, sealed, slot },
      batchIndex: leafIndex,
    }));
}

function parseFile(path: string): v.InferOutput<typeof fileSchema> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw invalid(path, 'it cannot be read as JSON', cause);
  }
  try {
    return parseWire(fileSchema, value, path);
  } catch (cause) {
    const detail = cause instanceof PoolError ? cause.message : 'its form is wrong';
    throw invalid(path, detail, cause);
  }
}

function isSameHex(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function invalid(path: string, found: string, cause?: unknown): PoolError {
  return new PoolError(
    'notes_file_invalid',
    `${path} is not a usable file of exported notes: ${found}`,
    cause === undefined ? {} : { cause },
  );
}
