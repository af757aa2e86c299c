/**
 * What changes while the platform runs, on SIGHUP (docs/decisions/0010): the caps on fees, at once, and the relayer's key, between two
 * passes in which no transaction of the old key may still be mined, so that the old key can replace what is not mined.
 *
 * @module
 */

import type { Secret } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { TransactionCaps } from '@pool/evm-sender';
import type { Log } from '@pool/http-server';
import type { PoolChain } from '../chain/pool-chain.ts';
import { queryOpen } from '../store/submissions.ts';

/** Caps that are read at each signature. */
export type ChangingCaps = { -readonly [Name in keyof TransactionCaps]: TransactionCaps[Name] };

export type RelayerReload = ReturnType<typeof createRelayerReload>;

/** A new key. */
type Change = { readonly key: Secret; isAnnounced: boolean };

export function createRelayerReload(
  db: PlatformDatabase,
  chain: Pick<PoolChain, 'key' | 'relayerAddress' | 'hasRelayerRole' | 'useKey'>,
  caps: ChangingCaps,
  first: Secret,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
) {
  let current = first;
  let next: Change | undefined;

  function announce(change: Change, open: number): void {
    if (!change.isAnnounced) {
      change.isAnnounced = true;
      log.warn(
        { chain: chain.key, open },
        'a new relayer key waits until the open transactions of the old one are final; nothing new is sent meanwhile',
      );
    }
  }

  return {
    /** @param key - if it differs, it is used once nothing of the old one is open */
    change({ maxFeePerGas, maxCostWei }: TransactionCaps, key: Secret): void {
      caps.maxFeePerGas = maxFeePerGas;
      caps.maxCostWei = maxCostWei;
      next = key.reveal() === current.reveal() ? undefined : { key, isAnnounced: false };
    },
    /** While true, the relayer sends nothing new, so that the old key has an end. */
    isWaiting: (): boolean => next !== undefined,
    /** Must be called between two passes of the relayer. */
    async apply(): Promise<void> {
      const change = next;
      if (change === undefined) {
        return;
      }
      const isAccepted = await chain.hasRelayerRole(change.key);
      const open = isAccepted ? await countOpen(db, chain.key, chain.relayerAddress) : 0;
      // Another change may come while chain and database are asked.
      if (next !== change) {
        return;
      }
      if (!isAccepted) {
        next = undefined;
        log.error(
          { chain: chain.key, relayer: chain.relayerAddress },
          'the new relayer key was refused, and the old one stays in use: its account lacks RELAYER_ROLE on the pool; grant the role, then send SIGHUP again',
        );
        return;
      }
      if (open > 0) {
        announce(change, open);
        return;
      }
      current = change.key;
      next = undefined;
      chain.useKey(current);
      log.info({ chain: chain.key, relayer: chain.relayerAddress }, 'the relayer has a new key');
    },
  };
}

/** What the account may still have mined. Rows of an account before it are followed under every key. */
async function countOpen(db: PlatformDatabase, chain: string, sender: string): Promise<number> {
  const { count } = await queryOpen(db, chain, sender)
    .select((eb) => eb.fn.countAll<string | number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
