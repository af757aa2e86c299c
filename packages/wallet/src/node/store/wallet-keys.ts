/**
 * The newest sign-in evidence per wallet (protocol §2), kept across restarts. An agent that forgot a rotation could be
 * made to accept the previous key again.
 *
 * @module
 */
import { openPrivateDatabase } from '@pool/storage';
import type { EvidencePins, PinnedEvidence } from '../../ports.ts';

export type PinStore = EvidencePins & { close(): void };

type Verdict = { readonly isAccepted: boolean; readonly isNewest: boolean };

/** @param path - a file, made 0600, or `:memory:` */
export function openEvidencePins(path: string): PinStore {
  const { database, inTransaction } = openPrivateDatabase(
    path,
    `
    CREATE TABLE IF NOT EXISTS evidence_pins (
      wallet_pub TEXT PRIMARY KEY,
      encryption_public_key TEXT NOT NULL,
      issued_at_ms INTEGER NOT NULL
    ) STRICT;
    `,
  );
  const read = database.prepare(
    'SELECT encryption_public_key AS key, issued_at_ms AS at FROM evidence_pins WHERE wallet_pub = ?',
  );
  const write = database.prepare(`
    INSERT INTO evidence_pins VALUES (?, ?, ?)
    ON CONFLICT (wallet_pub) DO UPDATE SET
      encryption_public_key = excluded.encryption_public_key,
      issued_at_ms = excluded.issued_at_ms
  `);
  /** Whether the evidence is accepted, and whether it must be stored. */
  function judge({ walletPub, encryptionPublicKey, issuedAtMs }: PinnedEvidence): Verdict {
    const pinned = read.get(walletPub);
    if (pinned === undefined || Number(pinned['at']) < issuedAtMs) {
      return { isAccepted: true, isNewest: true };
    }
    // Two keys can have evidence of the same instant: the key that was seen first remains.
    return { isAccepted: pinned['key'] === encryptionPublicKey, isNewest: false };
  }

  return {
    // Nothing here awaits between reading and writing, so that no other request runs in between.
    async pinAll(evidence) {
      if (!evidence.some((one) => judge(one).isNewest)) {
        return evidence.map((one) => judge(one).isAccepted);
      }
      return inTransaction(() =>
        evidence.map((one) => {
          const verdict = judge(one);
          if (verdict.isNewest) {
            write.run(one.walletPub, one.encryptionPublicKey, one.issuedAtMs);
          }
          return verdict.isAccepted;
        }),
      );
    },
    close: () => database.close(),
  };
}
