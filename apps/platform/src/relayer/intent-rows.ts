/**
 * What the relayer's transactions are for: a settlement of an employer, or a spend of a holder. Nonces, replacements and
 * outcomes are the same for both. What differs is how the row of an intent is read and written.
 *
 * @module
 */
import type { FinalBlock, Receipt } from '@pool/contracts';
import type { ErrorBody } from '@pool/core';
import type { Selectable } from 'kysely';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase, PlatformTables } from '../database/platform-tables.ts';

export type Intent = { readonly kind: 'settlement' | 'spend'; readonly id: number };

export type RelayerTransaction = Selectable<PlatformTables['relayer_transactions']>;

/** A final receipt of a reverted transaction, and the reason. */
export type RevertFacts = {
  readonly txHash: string;
  readonly receipt: Receipt;
  readonly reason: ErrorBody;
};

/** The rows of one kind of intent. */
export type IntentRows = {
  /** Purpose of the transaction that carries the intent out. */
  readonly purpose: 'fund' | 'spend';
  /** Idempotency-Key, for the log. */
  selectKey(db: PlatformDatabase, id: number): Promise<string>;
  /** In the transaction that stores signed bytes: nobody else changes the row meanwhile. */
  lock(trx: PlatformDatabase, id: number): Promise<void>;
  /** For the first bytes: `accepted` becomes `submitted`. False: nothing may be sent. */
  claim(trx: PlatformDatabase, id: number): Promise<boolean>;
  /** Whether later bytes may be sent. */
  mayResend(trx: PlatformDatabase, id: number): Promise<boolean>;
  /** True when a final block shows that it never lands, or that it has landed. */
  canNeverLand(
    db: PlatformDatabase,
    chain: PoolChain,
    id: number,
    final: FinalBlock,
  ): Promise<boolean>;
  /** Ends it before anything landed. */
  markRefused(db: PlatformDatabase, id: number, reason: ErrorBody): Promise<void>;
  /** Ends it with a reverted transaction. */
  recordRevert(trx: PlatformDatabase, id: number, facts: RevertFacts): Promise<void>;
};
