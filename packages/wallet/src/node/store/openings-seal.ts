/**
 * Openings as rows of a store, each encrypted with AES-256-GCM under a key of the agent. Without the key the rows say how many batches and
 * spends there are and when, and nothing else.
 *
 * @module
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type Hex32, PoolError } from '@pool/core';
import type { KeptOpenings } from '../../archive/kept-openings.ts';

export type SealedOpenings = {
  readonly name: Uint8Array;
  readonly paidAtMs: number;
  readonly nonce: Uint8Array;
  readonly sealed: Uint8Array;
};

const tagBytes = 16;

export function sealOpenings(key: Buffer, openings: KeptOpenings): SealedOpenings {
  const { paidAtMs } = openings;
  const name = nameOf(key, openings.root);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', rowKey(key, name), nonce);
  cipher.setAAD(associate(name, paidAtMs));
  const text = Buffer.from(JSON.stringify(openings), 'utf8');
  const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return { name, paidAtMs, nonce, sealed };
}

/** @throws PoolError `store_damaged` for a row that was changed, or sealed under another key */
export function unsealOpenings(key: Buffer, row: SealedOpenings): KeptOpenings {
  const { name, paidAtMs, nonce, sealed } = row;
  try {
    const decipher = createDecipheriv('aes-256-gcm', rowKey(key, name), nonce);
    decipher.setAAD(associate(name, paidAtMs));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
    // Authentic, so this program wrote it.
    return JSON.parse(text.toString('utf8')) as KeptOpenings;
  } catch (cause) {
    throw createOpeningsDamaged('a row was changed, or was written under another key', cause);
  }
}

export function createOpeningsDamaged(found: string, cause?: unknown): PoolError {
  return new PoolError(
    'store_damaged',
    `the openings that this agent keeps for disclosures cannot be read: ${found}; restore openings.sqlite and openings.key, or the shared database and fingerprint.key, together from a backup`,
    { cause },
  );
}

/** A root on chain would name the payment, so a row is named by a keyed hash of it. */
function nameOf(key: Buffer, root: Hex32): Buffer {
  return createHmac('sha256', key).update('pool/v1/openings/name ').update(root).digest();
}

function rowKey(key: Buffer, name: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, name, 'pool/v1/openings/row', 32));
}

function associate(name: Uint8Array, paidAtMs: number): Buffer {
  return Buffer.concat([name, Buffer.from(` ${paidAtMs}`)]);
}
