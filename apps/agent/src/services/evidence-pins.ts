/**
 * The newest sign-in evidence seen per wallet (protocol §2), kept across restarts: an agent that forgot a
 * rotation could be talked back into the key before it.
 *
 * @module
 */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { EvidencePins, PinnedEvidence } from '@pool/operations';

export type PinStore = EvidencePins & { close(): void };

type Verdict = { readonly stands: boolean; readonly isNewest: boolean };

/** How long a statement waits for another agent's write to the same file. It blocks the renewal of leases, too. */
const busyTimeoutMs = 1_500;

/** @param path - a file, made 0600, or `:memory:` */
export function openEvidencePins(path: string): PinStore {
  if (path !== ':memory:') {
    // Who is on a payroll is nobody's business: SQLite itself would create the file readable to all.
    closeSync(openSync(path, 'a', 0o600));
  }
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
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
  /** Whether the evidence stands, and whether it has to be written down. */
  function judge({ walletPub, encryptionPublicKey, issuedAtMs }: PinnedEvidence): Verdict {
    const pinned = read.get(walletPub);
    if (pinned === undefined || Number(pinned['at']) < issuedAtMs) {
      return { stands: true, isNewest: true };
    }
    // Of the same instant two keys could be claimed: the one seen first stays.
    return { stands: pinned['key'] === encryptionPublicKey, isNewest: false };
  }

  return {
    // One synchronous block: no other request can come between reading and writing. One transaction: a write
    // is waited for until it is on disk, once and not per wallet.
    async pinAll(evidence) {
      if (!evidence.some((one) => judge(one).isNewest)) {
        return evidence.map((one) => judge(one).stands);
      }
      database.exec('BEGIN IMMEDIATE');
      try {
        const stands = evidence.map((one) => {
          const verdict = judge(one);
          if (verdict.isNewest) {
            write.run(one.walletPub, one.encryptionPublicKey, one.issuedAtMs);
          }
          return verdict.stands;
        });
        database.exec('COMMIT');
        return stands;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}
