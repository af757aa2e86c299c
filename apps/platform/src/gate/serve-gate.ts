/**
 * Composes and runs the pool-gate: a process of its own, with its own store and key.
 *
 * @module
 */
import { createEvmRegistryChain } from '../chain/registry-chain.ts';
import type { GateConfig } from '../config.ts';
import { openDatabase } from '../database/open-database.ts';
import { listen } from '../http/listen.ts';
import type { Log } from '../log.ts';
import { createGateApp } from './gate-app.ts';
import { type GateTables, gateMigrations } from './gate-tables.ts';
import { createLeaves } from './leaves.ts';
import { createTokenService } from './oauth.ts';
import { startPublisher } from './publisher.ts';
import { createFileScreening, passEverybody } from './screening.ts';

/** @throws PoolError `data_directory_locked`, `wrong_chain`, `chain_unreachable` */
export async function serveGate(
  config: GateConfig,
  log: Log,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const database = await openDatabase<GateTables>(config.dataDirectory, gateMigrations);
  const { db } = database;
  const nowMs = Date.now;
  const chain = createEvmRegistryChain(config.chain, config.publisherKey);
  const stopping = new AbortController();
  await chain.assertChain();
  const publisher = await startPublisher({
    db,
    chain,
    log,
    nowMs,
    pollIntervalMs: config.pollIntervalMs,
    replaceAfterMs: config.replaceAfterMs,
    signal: stopping.signal,
  });
  const leaves = createLeaves(db, log);
  await leaves.watch();
  const app = createGateApp({
    db,
    leaves,
    publisher,
    log,
    tokens: createTokenService(
      [
        { ...config.reader, scopes: ['gate.read'] },
        { ...config.writer, scopes: ['gate.read', 'gate.write'] },
      ],
      config.tokenTtlSeconds,
      nowMs,
      { limits: config.tokenLimits },
    ),
    screening:
      config.screeningFile === undefined
        ? passEverybody
        : createFileScreening(config.screeningFile),
    allowedHosts: config.allowedHosts,
    proxyHops: config.proxyHops,
  });
  const listening = await listen((request, from) => app.fetch(request, from), config.listen, log);
  return {
    url: listening.url,
    async close() {
      stopping.abort();
      await listening.close();
      await publisher.idle();
      chain.close();
      await database.close();
    },
  };
}
