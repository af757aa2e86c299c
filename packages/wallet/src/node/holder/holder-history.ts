/**
 * The holder's history over the files of an agent directory.
 *
 * @module
 */
import { join } from 'node:path';
import { openPrivateDatabase } from '@pool/storage';
import { createEvmRecords } from '../../evm/evm-records.ts';
import {
  createWalletHistory,
  type HistoryFacts,
  type HolderHistory,
  type WalletHistoryDeps,
} from '../../holder/wallet-history.ts';
import type { Log } from '../log.ts';

export type HolderHistoryDeps = Omit<WalletHistoryDeps, 'facts' | 'createRecords' | 'onGasUnread'> &
  Partial<Pick<WalletHistoryDeps, 'createRecords'>> & {
    /** The agent directory. Undefined: nothing is written to disk. */
    readonly home: string | undefined;
    readonly log: Pick<Log, 'warn'>;
  };

export function createHolderHistory({ home, log, ...deps }: HolderHistoryDeps): HolderHistory {
  return createWalletHistory({
    createRecords: createEvmRecords,
    ...deps,
    facts: openHistoryFacts(home === undefined ? ':memory:' : join(home, 'history-facts.sqlite')),
    onGasUnread: (code) =>
      log.warn({ code }, 'the history leaves out what the gas of a transaction cost'),
  });
}

// It holds transactions of the holder, and no amount but public ones.
const schema = `
  CREATE TABLE IF NOT EXISTS facts (
    chain_id INTEGER NOT NULL, tx_hash TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (chain_id, tx_hash, name)
  ) STRICT, WITHOUT ROWID;
  -- A power cut loses at most facts that are read again.
  PRAGMA synchronous = NORMAL;
`;

/** @param path - a file, made 0600, or `:memory:` */
function openHistoryFacts(path: string): HistoryFacts {
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
