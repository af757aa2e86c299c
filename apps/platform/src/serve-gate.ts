/**
 * Composes and runs the pool-gate: a separate process with its own store and key.
 *
 * @module
 */

import { PoolError } from '@pool/core';
import { createSharedLimiter, forgetFullBuckets, openServiceKey, openStore } from '@pool/database';
import type { Log } from '@pool/http-server';
import {
  createBuildMeasure,
  createChainWatch,
  createDatabaseCheck,
  createReadiness,
  drain,
  listen,
  startWorkerLoop,
} from '@pool/http-server';
import { createTreeHasher } from '@pool/notes';
import {
  assertAccepted,
  createEvmRegistryChain,
  createFileScreening,
  createGateApp,
  createLeaves,
  createTokenService,
  type GateTables,
  gateMigrations,
  listGateMeasures,
  openReaderClients,
  passEverybody,
  startPublisher,
} from '@pool/pool-gate';
import manifest from '../package.json' with { type: 'json' };
import type { GateConfig } from './config.ts';
import type { Served } from './serve-platform.ts';

/** How often the gate asks the RPC, also while nothing is published. */
const watchIntervalMs = 10_000;

/**
 * @param readConfig - reads the configuration again, for a reload
 * @throws PoolError `wrong_chain`, `chain_unreachable`, `invalid_configuration`, and as `openStore`
 */
export async function serveGate(
  config: GateConfig,
  log: Log,
  readConfig: () => GateConfig = () => config,
): Promise<Served> {
  const database = await openStore<GateTables>(config.database, 'gate', gateMigrations, log);
  const { db, leaders } = database;
  const { nowMs } = database;
  const caps = { ...config.publisherCaps };
  let publisherKey = config.publisherKey;
  const chain = createEvmRegistryChain(config.chain, config.publisherKey, caps);

  if (
    config.publisherCaps.maxFeePerGas === undefined &&
    config.publisherCaps.maxCostWei === undefined
  ) {
    log.warn(
      'neither GATE_PUBLISHER_MAX_FEE_GWEI nor GATE_PUBLISHER_MAX_COST_COIN sets a cap: the gate pays any fees that the chain asks for',
    );
  }
  const stopping = new AbortController();
  const hasher = createTreeHasher();
  await chain.assertChain();
  await assertAccepted(chain, config.pastRootSeconds);
  const publisher = await startPublisher({
    db,
    chain,
    log,
    nowMs,
    pollIntervalMs: config.pollIntervalMs,
    replaceAfterMs: config.replaceAfterMs,
    pastRootSeconds: config.pastRootSeconds,
    leaders,
    signal: stopping.signal,
    beforeSigning: () => chain.usePublisherKey(publisherKey),
    hashMany: hasher.hashMany,
  });
  // Publications change few nodes: they are hashed on this thread.
  await hasher.close();
  const leaves = createLeaves(db, log);
  await leaves.watch();
  const readers = await openReaderClients(db, nowMs);
  const silence = createChainWatch(config.chainKey, nowMs);
  let balanceWei: bigint | undefined;
  const watch = startWorkerLoop({
    name: 'chain watch',
    intervalMs: watchIntervalMs,
    async pass() {
      balanceWei = await chain.fetchBalanceWei();
      await chain.fetchFinalBlock();
      silence.noteAnswer();
      await forgetFullBuckets(db);
    },
    log,
  });
  // A gate on an embedded database is alone, and publishes when it is asked.
  const keeping =
    config.database.kind === 'postgres'
      ? startWorkerLoop({
          name: 'publisher',
          intervalMs: config.pollIntervalMs,
          pass: publisher.keepUp,
          log,
        })
      : undefined;
  const readiness = createReadiness([createDatabaseCheck(leaders.isAnswering), silence.check]);
  const app = createGateApp({
    db,
    readers,
    leaves,
    publisher: {
      ...publisher,
      publishWanted: () =>
        publisher.publishWanted().catch((error: unknown) => {
          throw stopping.signal.aborted ? describeStop(error) : error;
        }),
    },
    log,
    findProblem: readiness.find,
    metrics: {
      token: config.metricsToken,
      measures: [
        createBuildMeasure('gate', manifest.version),
        ...listGateMeasures({
          db,
          leaves,
          chain: silence,
          readBalanceWei: () => balanceWei,
          nowMs,
        }),
      ],
    },
    tokens: createTokenService(
      [
        ...(config.reader === undefined
          ? []
          : [{ ...config.reader, scopes: ['gate.read'] as const }]),
        { ...config.writer, scopes: ['gate.read', 'gate.write'] },
      ],
      config.tokenTtlSeconds,
      nowMs,
      {
        limits: config.tokenLimits,
        readers,
        key: await openServiceKey(db, 'access tokens'),
        shareLimit:
          config.database.kind === 'postgres'
            ? (limit) => createSharedLimiter(db, limit)
            : undefined,
      },
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
    reload() {
      const fresh = readConfig();
      publisherKey = fresh.publisherKey;
      Object.assign(caps, fresh.publisherCaps);
    },
    async close() {
      await drain(readiness, listening, config.drainMs, log);
      stopping.abort();
      await listening.close();
      await Promise.all([watch.stop(), keeping?.stop()]);
      await publisher.idle();
      chain.close();
      await database.close();
    },
  };
}

/** Another gate, or the next start of this one, goes on with the publication: the platform asks again. */
function describeStop(cause: unknown): PoolError {
  return new PoolError(
    'stopping',
    'this gate is stopping, and the publication goes on; try again',
    {
      cause,
    },
  );
}
