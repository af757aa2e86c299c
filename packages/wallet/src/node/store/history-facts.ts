/**
 * What the agent has read of final blocks for histories, so that it asks its RPC once: times, withdrawals of spends, and costs of gas. A SQLite file in
 * the agent's directory. It holds transactions of the holder, and no amount but public ones. Everything in it can be read again.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import { openPrivateDatabase } from '@pool/storage';

/** Of a transaction of a chain. */
export type FactPlace = {
  readonly chainId: number;
  readonly txHash: Hex32;
  /** What is known, and of which block or spend: another chain can have the same id. */
  readonly name: string;
};

export type HistoryFacts = {
  find(place: FactPlace): string | undefined;
  keep(place: FactPlace, value: string): void;
  close(): void;
};

const schema = `
  CREATE TABLE IF NOT EXISTS facts (
    chain_id INTEGER NOT NULL, tx_hash TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (chain_id, tx_hash, name)
  ) STRICT, WITHOUT ROWID;
  -- A power cut loses at most facts that are read again.
  PRAGMA synchronous = NORMAL;
`;

/** @param path - a file, made 0600, or `:memory:` */
export function openHistoryFacts(path: string): HistoryFacts {
  const { database } = openPrivateDatabase(path, schema);
  const select = database.prepare(
    'SELECT value FROM facts WHERE chain_id = ? AND tx_hash = ? AND name = ?',
  );
  const insert = database.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)');
  return {
    find({ chainId, txHash, name }) {
      const row = select.get(chainId, txHash, name);
      return row === undefined ? undefined : String(row['value']);
    },
    keep({ chainId, txHash, name }, value) {
      insert.run(chainId, txHash, name, value);
    },
    close: () => database.close(),
  };
}
