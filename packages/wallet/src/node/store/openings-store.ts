/**
 * The openings that a payer keeps for disclosures (docs/disclosure.md, "What a payer keeps"): a SQLite file in the agent's directory, each
 * row sealed under `openings.key` beside it (0600). A funder may have no viewing key, so the key is one of its own.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDurableFile, isCode, openPrivateDatabase } from '@pool/storage';
import type { KeptOpenings } from '../../archive/kept-openings.ts';
import { createOpeningsDamaged, sealOpenings, unsealOpenings } from './openings-seal.ts';

export type OpeningsStore = {
  /** On disk when it resolves. The openings of one batch or spend are kept once. */
  keep(openings: KeptOpenings): Promise<void>;
  /** Oldest first. @throws PoolError `store_damaged` */
  readAll(): Promise<readonly KeptOpenings[]>;
  /** Erases what was paid before a time. @returns how many */
  eraseBefore(paidBeforeMs: number): Promise<number>;
  close(): void;
};

const schema = `
  CREATE TABLE IF NOT EXISTS openings (
    name BLOB PRIMARY KEY, paid_at_ms INTEGER NOT NULL, nonce BLOB NOT NULL, sealed BLOB NOT NULL
  ) STRICT;
  -- What is erased must not stay in free pages of the file.
  PRAGMA secure_delete = ON;
`;

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
    async keep(openings) {
      const { name, paidAtMs, nonce, sealed } = sealOpenings(key, openings);
      insert.run(name, paidAtMs, nonce, sealed);
    },
    readAll: async () =>
      select.all().map((row) =>
        unsealOpenings(key, {
          name: bytesOf(row['name']),
          paidAtMs: Number(row['paid_at_ms']),
          nonce: bytesOf(row['nonce']),
          sealed: bytesOf(row['sealed']),
        }),
      ),
    async eraseBefore(paidBeforeMs) {
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
    throw createOpeningsDamaged(
      isCode(cause, 'ENOENT') ? `its key ${path} is missing` : 'its key cannot be read',
      cause,
    );
  }
  if (!/^0x[0-9a-f]{64}$/.test(text)) {
    throw createOpeningsDamaged(`its key ${path} is not 32 bytes of hex`);
  }
  return Buffer.from(text.slice(2), 'hex');
}

function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) {
    throw createOpeningsDamaged('a value of it has the wrong type');
  }
  return value;
}
