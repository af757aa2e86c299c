/**
 * What the agent has read of final blocks for histories, so that it asks its RPC once: times, withdrawals of spends, and costs of gas. A SQLite file in
 * the agent's directory. It holds transactions of the holder, and no amount but public ones. Everything in it can be read again.
 *
 * @module
 */
import { type EvmAddress, type Hex32, parseEvmAddress } from '@pool/core';
import { openPrivateDatabase } from '@pool/storage';

/** What left the pool in a spend. Undefined recipient: nothing. */
export type Withdrawal = {
  /** Base units. */
  readonly amount: bigint;
  readonly recipient: EvmAddress | undefined;
};

/** A transaction's place. The hash is part of it: another chain can have the same id and block number. */
export type TransactionPlace = {
  readonly chainId: number;
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

export type HistoryFacts = {
  /** Unix seconds. */
  findTime(place: TransactionPlace): number | undefined;
  keepTime(place: TransactionPlace, seconds: number): void;
  findWithdrawal(place: TransactionPlace, outRoot: Hex32): Withdrawal | undefined;
  keepWithdrawal(place: TransactionPlace, outRoot: Hex32, withdrawal: Withdrawal): void;
  /** Wei. */
  findGas(place: TransactionPlace): bigint | undefined;
  keepGas(place: TransactionPlace, wei: bigint): void;
  close(): void;
};

const schema = `
  CREATE TABLE IF NOT EXISTS times (
    chain_id INTEGER NOT NULL, tx_hash TEXT NOT NULL, block INTEGER NOT NULL, seconds INTEGER NOT NULL,
    PRIMARY KEY (chain_id, tx_hash, block)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS withdrawals (
    chain_id INTEGER NOT NULL, tx_hash TEXT NOT NULL, out_root TEXT NOT NULL, amount TEXT NOT NULL, recipient TEXT,
    PRIMARY KEY (chain_id, tx_hash, out_root)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS gas_costs (
    chain_id INTEGER NOT NULL, tx_hash TEXT NOT NULL, block INTEGER NOT NULL, wei TEXT NOT NULL,
    PRIMARY KEY (chain_id, tx_hash, block)
  ) STRICT, WITHOUT ROWID;
  -- A power cut loses at most facts that are read again.
  PRAGMA synchronous = NORMAL;
`;

/** @param path - a file, made 0600, or `:memory:` */
export function openHistoryFacts(path: string): HistoryFacts {
  const { database } = openPrivateDatabase(path, schema);
  const selectTime = database.prepare(
    'SELECT seconds FROM times WHERE chain_id = ? AND tx_hash = ? AND block = ?',
  );
  const insertTime = database.prepare('INSERT OR REPLACE INTO times VALUES (?, ?, ?, ?)');
  const selectWithdrawal = database.prepare(
    'SELECT amount, recipient FROM withdrawals WHERE chain_id = ? AND tx_hash = ? AND out_root = ?',
  );
  const insertWithdrawal = database.prepare(
    'INSERT OR REPLACE INTO withdrawals VALUES (?, ?, ?, ?, ?)',
  );
  const selectGas = database.prepare(
    'SELECT wei FROM gas_costs WHERE chain_id = ? AND tx_hash = ? AND block = ?',
  );
  const insertGas = database.prepare('INSERT OR REPLACE INTO gas_costs VALUES (?, ?, ?, ?)');
  return {
    findTime({ chainId, txHash, blockNumber }) {
      const row = selectTime.get(chainId, txHash, blockNumber);
      return row === undefined ? undefined : Number(row['seconds']);
    },
    keepTime({ chainId, txHash, blockNumber }, seconds) {
      insertTime.run(chainId, txHash, blockNumber, seconds);
    },
    findWithdrawal({ chainId, txHash }, outRoot) {
      const row = selectWithdrawal.get(chainId, txHash, outRoot);
      if (row === undefined) {
        return undefined;
      }
      const recipient = row['recipient'];
      return {
        amount: BigInt(String(row['amount'])),
        recipient: typeof recipient === 'string' ? parseEvmAddress(recipient) : undefined,
      };
    },
    keepWithdrawal({ chainId, txHash }, outRoot, { amount, recipient }) {
      insertWithdrawal.run(chainId, txHash, outRoot, amount.toString(), recipient ?? null);
    },
    findGas({ chainId, txHash, blockNumber }) {
      const row = selectGas.get(chainId, txHash, blockNumber);
      return row === undefined ? undefined : BigInt(String(row['wei']));
    },
    keepGas({ chainId, txHash, blockNumber }, wei) {
      insertGas.run(chainId, txHash, blockNumber, wei.toString());
    },
    close: () => database.close(),
  };
}
