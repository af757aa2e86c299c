/**
 * What the platform keeps for each chain: its node, its index, and the accounts with which the relayer sends.
 *
 * @module
 */
import { PoolError, type Secret } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { createChainWatch, type Log } from '@pool/http-server';
import {
  type ChangingCaps,
  createChainDoor,
  createEvmPoolChain,
  createHaltWatch,
  createRelayerReload,
  createRelayerWatch,
  defaultDailyWei,
  joinRelayerWatches,
} from '@pool/relayer';
import type { PlatformConfig } from './config.ts';

export function createLanes(
  config: PlatformConfig,
  { db, log, nowMs }: { db: PlatformDatabase; log: Log; nowMs: () => number },
) {
  const { relayerKeys, productionKeys, relayerDailyWei, stuckAfterMs } = config;
  let keys = relayerKeys;
  const lanes = Object.entries(config.chains.chains).map(([key, settings]) => {
    const dailyWei = relayerDailyWei.get(key) ?? defaultDailyWei;
    const accounts = relayerKeys.map((relayerKey) => {
      const caps = capsOf(config, key);
      const chain = createEvmPoolChain(key, settings, relayerKey, caps, productionKeys);
      const reload = createRelayerReload(db, chain, caps, relayerKey, log);
      const { isWaiting } = reload;
      const watch = createRelayerWatch({
        db,
        chain,
        log,
        nowMs,
        stuckAfterMs,
        dailyWei,
        isWaiting,
      });
      return { chain, reload, watch };
    });
    const [first] = accounts;
    if (first === undefined) {
      throw new PoolError(
        'invalid_configuration',
        'configuration: PLATFORM_RELAYER_KEY is required',
      );
    }
    const { chain } = first;
    return {
      ...{ key, chain, accounts, dailyWei },
      door: createChainDoor(chain, log),
      watch: joinRelayerWatches(accounts.map(({ watch }) => watch)),
      reload: { isWaiting: () => accounts.some(({ reload }) => reload.isWaiting()) },
      silence: createChainWatch(key, nowMs),
      halt: createHaltWatch(db, key),
    };
  });
  return {
    lanes,
    /** New caps at once, and new keys between two passes. @throws PoolError `invalid_configuration` */
    reload(fresh: PlatformConfig): void {
      keys = assignKeys(keys, fresh.relayerKeys);
      for (const { key, accounts } of lanes) {
        for (const [index, { reload }] of accounts.entries()) {
          const next = keys[index];
          if (next !== undefined) {
            reload.change(capsOf(fresh, key), next);
          }
        }
      }
    },
  };
}

/**
 * A key that stays keeps its relayer; a new one takes the place of one that is gone.
 * @throws PoolError `invalid_configuration` for another number of keys
 */
function assignKeys(current: readonly Secret[], next: readonly Secret[]): readonly Secret[] {
  if (next.length !== current.length) {
    throw new PoolError(
      'invalid_configuration',
      `configuration: PLATFORM_RELAYER_KEY has ${next.length} keys in place of ${current.length}; restart the platform to add or remove one`,
    );
  }
  const has = (keys: readonly Secret[], key: Secret) =>
    keys.some((other) => other.reveal() === key.reveal());
  const fresh = next.filter((key) => !has(current, key));
  return current.map((key) => (has(next, key) ? key : (fresh.shift() ?? key)));
}

function capsOf(
  { maxFeePerGas, maxCost }: Pick<PlatformConfig, 'maxFeePerGas' | 'maxCost'>,
  chain: string,
): ChangingCaps {
  return { maxFeePerGas: maxFeePerGas.get(chain), maxCostWei: maxCost.get(chain) };
}
