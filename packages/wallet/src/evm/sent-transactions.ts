/**
 * The holder's own transactions that carry spends. Signed bytes are stored before they are sent, so a process that dies in between can
 * only repeat the same transaction.
 *
 * @module
 */
import type { EvmAddress, Hex, Hex32 } from '@pool/core';

/** Signed bytes. Public once they are sent. */
export type SentTransaction = {
  /** Of the spend that it carries. */
  readonly outRoot: Hex32;
  readonly chainId: number;
  readonly from: EvmAddress;
  readonly nonce: number;
  readonly txHash: Hex32;
  readonly rawTransaction: Hex;
  readonly createdAtMs: number;
};

/** A durable store, shared by all processes of one agent directory. A row is on disk when the promise resolves. */
export type SentTransactions = {
  /** Of one spend, the newest first. */
  list(outRoot: Hex32): Promise<readonly SentTransaction[]>;
  add(transaction: SentTransaction): Promise<void>;
};
