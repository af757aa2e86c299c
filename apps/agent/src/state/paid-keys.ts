/**
 * The encryption key under which each wallet was last paid (protocol §2), kept across restarts, so that the operator
 * learns of a change before the next payment.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseEncryptionPublicKey } from '@pool/core';
import type { PaidKeys } from '@pool/operations';
import { openPrivateDatabase } from '@pool/storage';

export type PaidKeyStore = PaidKeys & { close(): void };

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
  const { database, inTransaction } = openPrivateDatabase(
    path,
    `
    CREATE TABLE IF NOT EXISTS paid_keys (
      wallet_pub TEXT PRIMARY KEY,
      encryption_public_key TEXT NOT NULL,
      paid_at_ms INTEGER NOT NULL
    ) STRICT;
    `,
  );
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
      inTransaction(() => {
        for (const { walletPub, encryptionPublicKey } of paid) {
          write.run(walletPub, encryptionPublicKey, atMs);
        }
      });
    },
    close: () => database.close(),
  };
}
