/**
 * The encryption key under which each wallet was last paid (protocol §2), kept across restarts, so that the operator
 * learns of a change before the next payment.
 *
 * @module
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseEncryptionPublicKey } from '@pool/core';
import type { PaidKeys } from '@pool/operations';

export type PaidKeyStore = PaidKeys & { close(): void };

/** Maximum wait of a statement for another agent's write to the same file. The wait also blocks the renewal of leases. */
const busyTimeoutMs = 1_500;

/** Name of the file in the agent directory. */
const fileName = 'paid-keys.sqlite';

export function paidKeysPath(home: string): string {
  return join(home, fileName);
}

/** For a command beside the agent: the agent's records, or an empty store if there are none yet. */
export function openRecordedPaidKeys(home: string): PaidKeyStore {
  const path = paidKeysPath(home);
  return openPaidKeys(existsSync(path) ? path : ':memory:');
}

/** @param path - a file, made 0600, or `:memory:` */
export function openPaidKeys(path: string): PaidKeyStore {
  if (path !== ':memory:') {
    // The file lists who was paid, and SQLite itself would create it readable by every user.
    closeSync(openSync(path, 'a', 0o600));
  }
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS paid_keys (
      wallet_pub TEXT PRIMARY KEY,
      encryption_public_key TEXT NOT NULL,
      paid_at_ms INTEGER NOT NULL
    ) STRICT;
  `);
  const read = database.prepare(
    'SELECT encryption_public_key AS key, paid_at_ms AS at FROM paid_keys WHERE wallet_pub = ?',
  );
  const write = database.prepare(`
    INSERT INTO paid_keys VALUES (?, ?, ?)
    ON CONFLICT (wallet_pub) DO UPDATE SET
      encryption_public_key = excluded.encryption_public_key,
      paid_at_ms = excluded.paid_at_ms
    WHERE excluded.paid_at_ms > paid_keys.paid_at_ms
  `);
  return {
    async findAll(wallets) {
      return wallets.map((walletPub) => {
        const row = read.get(walletPub);
        return row === undefined
          ? undefined
          : {
              encryptionPublicKey: parseEncryptionPublicKey(row['key']),
              atMs: Number(row['at']),
            };
      });
    },
    async record(paid, atMs) {
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const { walletPub, encryptionPublicKey } of paid) {
          write.run(walletPub, encryptionPublicKey, atMs);
        }
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}
