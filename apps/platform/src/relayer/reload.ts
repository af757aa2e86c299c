/**
 * What changes while the platform runs, on SIGHUP (docs/decisions/0068, §11): the caps on fees, at once, and the relayer's key, between two
 * passes in which no transaction of the old key may still be mined. Nonces belong to an account: with open transactions of another
 * account, a nonce of the new one would be skipped or used twice.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { TransactionCaps } from '../chain/transaction-signer.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { Log } from '../log.ts';

/** Caps that are read at each signature. */
export type ChangingCaps = { -readonly [Name in keyof TransactionCaps]: TransactionCaps[Name] };

export type RelayerReload = {
  /** @param key - if it differs, it is used once nothing of the old one is open */
  change(caps: TransactionCaps, key: Secret): void;
  /** While true, the relayer sends nothing new, so that the old key has an end. */
  isWaiting(): boolean;
  /** Must be called between two passes of the relayer. */
  apply(): Promise<void>;
};

export function createRelayerReload(
  db: PlatformDatabase,
  chain: Pick<PoolChain, 'key' | 'relayerAddress' | 'useRelayerKey'>,
  caps: ChangingCaps,
  first: Secret,
  log: Pick<Log, 'info'>,
): RelayerReload {
  let current = first;
  let next: Secret | undefined;
  return {
    change({ maxFeePerGas, maxCostWei }, key) {
      caps.maxFeePerGas = maxFeePerGas;
      caps.maxCostWei = maxCostWei;
      next = key.reveal() === current.reveal() ? undefined : key;
    },
    isWaiting: () => next !== undefined,
    async apply() {
      const key = next;
      // Another change may come while the database is asked.
      if (
        key === undefined ||
        (await hasOpen(db, chain.key, chain.relayerAddress)) ||
        next !== key
      ) {
        return;
      }
      log.info(
        { chain: chain.key, relayer: chain.useRelayerKey(key) },
        'the relayer has a new key',
      );
      current = key;
      next = undefined;
    },
  };
}

/** Whether the account may still send: rows of an account before it are followed under every key. */
async function hasOpen(db: PlatformDatabase, chain: string, sender: string): Promise<boolean> {
  const open = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('chain', '=', chain)
    .where('sender', '=', sender)
    .where('state', '=', 'open')
    .executeTakeFirst();
  return open !== undefined;
}
