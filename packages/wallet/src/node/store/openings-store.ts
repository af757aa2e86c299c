/**
 * The openings that a payer keeps for disclosures (docs/disclosure.md, "What a payer keeps"): a SQLite file in the agent's directory, each
 * row encrypted with AES-256-GCM under a key derived from `openings.key` beside it (0600). A funder may have no viewing key, so the key is
 * one of its own. Without the key file the rows say how many batches and spends there are and when, and nothing else.
 *
 * @module
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Hex32, PoolError } from '@pool/core';
import { createDurableFile, isCode, openPrivateDatabase } from '@pool/storage';
import type { KeptOpenings } from '../../archive/kept-openings.ts';

export type OpeningsStore = {
  /** On disk when it returns. The openings of one batch or spend are kept once. */
  keep(openings: KeptOpenings): void;
  /** Oldest first. @throws PoolError `store_damaged` */
  readAll(): readonly KeptOpenings[];
  /** Erases what was paid before a time. @returns how many */
  eraseBefore(paidBeforeMs: number): number;
  close(): void;
};

const schema = `
  CREATE TABLE IF NOT EXISTS openings (
    name BLOB PRIMARY KEY, paid_at_ms INTEGER NOT NULL, nonce BLOB NOT NULL, sealed BLOB NOT NULL
  ) STRICT;
  -- What is erased must not stay in free pages of the file.
  PRAGMA secure_delete = ON;
`;

const tagBytes = 16;

export function openingsPath(home: string): string {
  return join(home, 'openings.sqlite');
}

export function openingsKeyPath(home: string): string {
  return join(home, 'openings.key');
}

/**
 * @param home - the agent directory. Undefined: nothing is written to disk
 * @throws PoolError `store_damaged` if there are rows and the key file is missing or malformed
 */
export function openOpeningsStore(home: string | undefined): OpeningsStore {
  const path = home === undefined ? ':memory:' : openingsPath(home);
  const { database } = openPrivateDatabase(path, schema);
  const count = Number(database.prepare('SELECT count(*) AS n FROM openings').get()?.['n']);
  const key = home === undefined ? randomBytes(32) : readKey(openingsKeyPath(home), count === 0);
  const insert = database.prepare('INSERT OR IGNORE INTO openings VALUES (?, ?, ?, ?)');
  const select = database.prepare('SELECT * FROM openings ORDER BY paid_at_ms, name');
  const remove = database.prepare('DELETE FROM openings WHERE paid_at_ms < ?');
  return {
    keep(openings) {
      const name = nameOf(key, openings.root);
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', rowKey(key, name), nonce);
      cipher.setAAD(associate(name, openings.paidAtMs));
      const text = Buffer.from(JSON.stringify(openings), 'utf8');
      const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
      insert.run(name, openings.paidAtMs, nonce, sealed);
    },
    readAll: () =>
      select.all().map((row) => {
        const name = bytesOf(row['name']);
        const sealed = bytesOf(row['sealed']);
        try {
          const decipher = createDecipheriv(
            'aes-256-gcm',
            rowKey(key, name),
            bytesOf(row['nonce']),
          );
          decipher.setAAD(associate(name, Number(row['paid_at_ms'])));
          decipher.setAuthTag(sealed.subarray(-tagBytes));
          const text = Buffer.concat([
            decipher.update(sealed.subarray(0, -tagBytes)),
            decipher.final(),
          ]);
          // Authentic, so this program wrote it.
          return JSON.parse(text.toString('utf8')) as KeptOpenings;
        } catch (cause) {
          throw damaged('a row of it was changed, or was written under another key', cause);
        }
      }),
    eraseBefore(paidBeforeMs) {
      const { changes } = remove.run(paidBeforeMs);
      if (Number(changes) > 0) {
        // Old pages can be in the write-ahead log too.
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      }
      return Number(changes);
    },
    close: () => database.close(),
  };
}

/** The time before which openings are erased, in whole calendar years. */
export function computeOpeningsLimit(nowMs: number, years: number): number {
  const limit = new Date(nowMs);
  limit.setUTCFullYear(limit.getUTCFullYear() - years);
  return limit.getTime();
}

/** @param mayCreate - false: rows exist that only the earlier key opens */
function readKey(path: string, mayCreate: boolean): Buffer {
  if (mayCreate) {
    createDurableFile(path, `0x${randomBytes(32).toString('hex')}\n`);
  }
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw damaged(
      isCode(cause, 'ENOENT') ? `its key ${path} is missing` : 'its key cannot be read',
      cause,
    );
  }
  if (!/^0x[0-9a-f]{64}$/.test(text)) {
    throw damaged(`its key ${path} is not 32 bytes of hex`);
  }
  return Buffer.from(text.slice(2), 'hex');
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

function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) {
    throw damaged('a value of it has the wrong type');
  }
  return value;
}

function damaged(found: string, cause?: unknown): PoolError {
  return new PoolError(
    'store_damaged',
    `the openings that this agent keeps for disclosures cannot be read: ${found}; restore openings.sqlite and openings.key together from a backup`,
    { cause },
  );
}
