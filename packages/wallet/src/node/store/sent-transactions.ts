/**
 * The transactions that `send --self-submit` has signed, as a SQLite file in the agent's directory. A process that was killed after it
 * signed sends the same bytes again.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Hex32, parseEvmAddress, parseHex, parseHex32 } from '@pool/core';
import { openPrivateDatabase } from '@pool/storage';
import type { SentTransaction, SentTransactions } from '../../evm/sent-transactions.ts';

export type SentTransactionsFile = SentTransactions & { close(): void };

const schema = `
  CREATE TABLE IF NOT EXISTS sent_transactions (
    id INTEGER PRIMARY KEY,
    out_root TEXT NOT NULL,
    chain_id INTEGER NOT NULL,
    sender TEXT NOT NULL,
    nonce INTEGER NOT NULL,
    tx_hash TEXT NOT NULL UNIQUE,
    raw_transaction TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS sent_by_spend ON sent_transactions (out_root, id);
`;

export function sentTransactionsPath(home: string): string {
  return join(home, 'sent-transactions.sqlite');
}

/** @param path - a file, made 0600, or `:memory:` */
export function openSentTransactions(path: string): SentTransactionsFile {
  const { database } = openPrivateDatabase(path, schema);
  const select = database.prepare(
    'SELECT * FROM sent_transactions WHERE out_root = ? ORDER BY id DESC',
  );
  // Two processes that continue one spend may sign the same bytes.
  const insert = database.prepare(`
    INSERT INTO sent_transactions (out_root, chain_id, sender, nonce, tx_hash, raw_transaction, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tx_hash) DO NOTHING
  `);
  return {
    list: async (outRoot) => select.all(outRoot).map(readRow),
    async add({ outRoot, chainId, from, nonce, txHash, rawTransaction, createdAtMs }) {
      insert.run(outRoot, chainId, from, nonce, txHash, rawTransaction, createdAtMs);
    },
    close: () => database.close(),
  };
}

/** Hashes of everything that was signed in an agent directory on a chain. Makes no file. */
export function listSentHashes(home: string, chainId: number): ReadonlySet<Hex32> {
  const path = sentTransactionsPath(home);
  if (!existsSync(path)) {
    return new Set();
  }
  const { database } = openPrivateDatabase(path, schema);
  try {
    const rows = database
      .prepare('SELECT tx_hash FROM sent_transactions WHERE chain_id = ?')
      .all(chainId);
    return new Set(rows.map((row) => parseHex32(row['tx_hash'])));
  } finally {
    database.close();
  }
}

function readRow(row: Record<string, unknown>): SentTransaction {
  return {
    outRoot: parseHex32(row['out_root']),
    chainId: Number(row['chain_id']),
    from: parseEvmAddress(row['sender']),
    nonce: Number(row['nonce']),
    txHash: parseHex32(row['tx_hash']),
    rawTransaction: parseHex(row['raw_transaction']),
    createdAtMs: Number(row['created_at_ms']),
  };
}
