/**
 * The newest sign-in evidence seen per wallet (protocol §2), kept across restarts: an agent that forgot a
 * rotation could be talked back into the key before it.
 *
 * @module
 */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { EvidencePins } from '@pool/operations';

export type PinStore = EvidencePins & { close(): void };

/** @param path - a file, made 0600, or `:memory:` */
export function openEvidencePins(path: string): PinStore {
  if (path !== ':memory:') {
    // Who is on a payroll is nobody's business: SQLite itself would create the file readable to all.
    closeSync(openSync(path, 'a', 0o600));
  }
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS evidence_pins (
      wallet_pub TEXT PRIMARY KEY,
      encryption_public_key TEXT NOT NULL,
      issued_at_ms INTEGER NOT NULL
    ) STRICT;
  `);
  const read = database.prepare(
    'SELECT encryption_public_key AS key, issued_at_ms AS at FROM evidence_pins WHERE wallet_pub = ?',
  );
  const write = database.prepare(`
    INSERT INTO evidence_pins VALUES (?, ?, ?)
    ON CONFLICT (wallet_pub) DO UPDATE SET
      encryption_public_key = excluded.encryption_public_key,
      issued_at_ms = excluded.issued_at_ms
  `);
  return {
    // One synchronous block: no other request can come between reading and writing.
    async pin({ walletPub, encryptionPublicKey, issuedAtMs }) {
      const pinned = read.get(walletPub);
      if (pinned !== undefined && Number(pinned['at']) >= issuedAtMs) {
        // Of the same instant two keys could be claimed: the one seen first stays.
        return pinned['key'] === encryptionPublicKey;
      }
      write.run(walletPub, encryptionPublicKey, issuedAtMs);
      return true;
    },
    close: () => database.close(),
  };
}
