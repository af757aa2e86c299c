/**
 * What the agent remembers of the encryption keys of wallets (protocol §2), kept across restarts: the newest sign-in evidence, so that a
 * rotation is not forgotten and the previous key accepted again; and the key of the last payment, so that the operator learns of a change
 * before the next one.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EncryptionPublicKey, parseEncryptionPublicKey, type WalletPub } from '@pool/core';
import { openPrivateDatabase } from '@pool/storage';
import { comparePin } from '../../evidence-verifier.ts';
import type { EvidencePins, PinnedEvidence } from '../../ports.ts';

type WalletKey = { readonly encryptionPublicKey: EncryptionPublicKey; readonly atMs: number };

/**
 * The newest key of each wallet.
 * @param path - a file, made 0600, or `:memory:`
 */
function openNewestKeys(path: string, table: string, atColumn: string) {
  const { database, inTransaction } = openPrivateDatabase(
    path,
    `
    CREATE TABLE IF NOT EXISTS ${table} (
      wallet_pub TEXT PRIMARY KEY,
      encryption_public_key TEXT NOT NULL,
      ${atColumn} INTEGER NOT NULL
    ) STRICT;
    `,
  );
  const select = database.prepare(
    `SELECT encryption_public_key AS key, ${atColumn} AS at FROM ${table} WHERE wallet_pub = ?`,
  );
  const insert = database.prepare(`
    INSERT INTO ${table} VALUES (?, ?, ?)
    ON CONFLICT (wallet_pub) DO UPDATE SET
      encryption_public_key = excluded.encryption_public_key,
      ${atColumn} = excluded.${atColumn}
    WHERE excluded.${atColumn} > ${table}.${atColumn}
  `);
  return {
    inTransaction,
    find(walletPub: WalletPub): WalletKey | undefined {
      const row = select.get(walletPub);
      return row === undefined
        ? undefined
        : { encryptionPublicKey: parseEncryptionPublicKey(row['key']), atMs: Number(row['at']) };
    },
    /** Changes nothing if a newer key is stored. */
    keep(walletPub: WalletPub, encryptionPublicKey: EncryptionPublicKey, atMs: number): void {
      insert.run(walletPub, encryptionPublicKey, atMs);
    },
    close: () => database.close(),
  };
}

/** @param path - a file, made 0600, or `:memory:` */
export function openEvidencePins(path: string): EvidencePins & { close(): void } {
  const { find, keep, inTransaction, close } = openNewestKeys(
    path,
    'evidence_pins',
    'issued_at_ms',
  );
  function compare(evidence: PinnedEvidence): ReturnType<typeof comparePin> {
    const pinned = find(evidence.walletPub);
    return comparePin(pinned && { ...pinned, issuedAtMs: pinned.atMs }, evidence);
  }
  return {
    // Nothing here awaits between reading and writing, so that no other request runs in between.
    async pinAll(evidence) {
      const compared = evidence.map(compare);
      if (!compared.includes('newer')) {
        return compared.map((found) => found !== 'outdated');
      }
      return inTransaction(() =>
        evidence.map((one) => {
          const found = compare(one);
          keep(one.walletPub, one.encryptionPublicKey, one.issuedAtMs);
          return found !== 'outdated';
        }),
      );
    },
    close,
  };
}

export function paidKeysPath(home: string): string {
  return join(home, 'paid-keys.sqlite');
}

/** For a command beside the agent: the agent's records, or an empty store if there are none yet. */
export function openRecordedPaidKeys(home: string): ReturnType<typeof openPaidKeys> {
  const path = paidKeysPath(home);
  return openPaidKeys(existsSync(path) ? path : ':memory:');
}

/** @param path - a file, made 0600, or `:memory:` */
export function openPaidKeys(path: string) {
  const { find, keep, inTransaction, close } = openNewestKeys(path, 'paid_keys', 'paid_at_ms');
  return {
    findAll: async (wallets: readonly WalletPub[]) => wallets.map(find),
    async record(
      paid: readonly Pick<PinnedEvidence, 'walletPub' | 'encryptionPublicKey'>[],
      atMs: number,
    ): Promise<void> {
      inTransaction(() => {
        for (const { walletPub, encryptionPublicKey } of paid) {
          keep(walletPub, encryptionPublicKey, atMs);
        }
      });
    },
    close,
  };
}
