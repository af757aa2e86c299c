/**
 * Composes and runs the platform: database, chains, relayer, indexer, routes, control listener.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises';
import { errorCodeOf } from '@pool/core';
import type { PlatformTables } from '@pool/database';
import {
  createSharedLimiter,
  forgetFullBuckets,
  openStore,
  platformMigrations,
} from '@pool/database';
import {
  createBuildMeasure,
  createDatabaseCheck,
  createReadiness,
  describeFailure,
  drain,
  type Log,
  listen,
  startWorkerLoop,
} from '@pool/http-server';
import { createTreeHasher } from '@pool/notes';
import { createGateClient, type GateClient } from '@pool/platform-client';
import { createProofVerifier } from '@pool/prover';
import {
  assertIndexedPool,
  authorisationSeconds,
  createBatchChecker,
  createBatchPages,
  createEraser,
  createIndexer,
  createProofCheck,
  createRelayer,
  createSettlementChecks,
  defaultDailyWei,
  haltMovedChain,
  loadVerificationKeys,
  type RelayerTotal,
  spendSeconds,
  waitUntilIndexed,
} from '@pool/relayer';
import manifest from '../package.json' with { type: 'json' };
import type { PlatformConfig } from './config.ts';
import { openCredentialMint } from './credentials/credential.ts';
import { createReaderVendor, type ReaderVendorDeps } from './edge/vend-readers.ts';
import { deleteUnusedEmployers } from './employers/employers.ts';
import { createLanes } from './lanes.ts';
import { startControl } from './operator/control.ts';
import { createPlatformApp } from './platform-app.ts';
import { listPlatformMeasures } from './platform-measures.ts';

/** The longest time that one status request waits for the index. */
const refreshMs = 3_000;

/** How often the platform looks for notes of batches that can never land. */
const eraseIntervalMs = 60_000;
/** How often accounts that nobody used are deleted. */
const accountsIntervalMs = 3_600_000;
/** How often unacknowledged states of readers are sent to the gate. */
const readersIntervalMs = 10_000;
/** The longest time that one read of the gate takes, in a request of a holder that waits no longer than 30 s. */
const gateReadMs = 10_000;
/** The longest time that an operator's command waits for the gate. */
const tellMs = 5_000;

export type Served = {
  readonly url: string;
  /** Takes over what may change while it runs. @throws PoolError `invalid_configuration` */
  reload(): void;
  close(): Promise<void>;
};

/**
 * @param readConfig - reads the configuration again, for a reload
 * @throws PoolError `wrong_chain`, and as `assertIndexedPool`, `openStore` and `loadVerificationKeys`
 */
export async function servePlatform(
  config: PlatformConfig,
  log: Log,
  readConfig: () => PlatformConfig = () => config,
): Promise<Served> {
  const verificationKeys = await loadVerificationKeys(config.productionKeys);
  const database = await openStore<PlatformTables>(
    config.database,
    'platform',
    platformMigrations,
    log,
  );
  const { db, leaders } = database;
  const credentials = await openCredentialMint(db);
  const { nowMs } = database;
  const { lanes, reload: reloadLanes } = createLanes(config, { db, log, nowMs });
  const chains = lanes.map(({ chain }) => chain);
  const laneOf = (chain: string) => lanes.find(({ key }) => key === chain);
  await Promise.all(lanes.map(({ door }) => assertChain(door.look, log)));
  // Before anything is served: pages of another pool are final for caches. A process that may be wrong alone halts no shared index.
  const { kind } = config.database;
  const checkPool = kind === 'postgres' ? assertIndexedPool : haltMovedChain;
  await Promise.all(chains.map((chain) => checkPool({ db, chain, log })));
  warnOfUncapped(config, log);
  const totalOf = (chain: string): RelayerTotal => ({
    dailyWei: laneOf(chain)?.dailyWei ?? defaultDailyWei,
    feeWei: laneOf(chain)?.watch.readFeeWei(),
  });
  const { pollIntervalMs: intervalMs, replaceAfterMs } = config;
  const loop = (name: string, everyMs: number, pass: () => Promise<void>) =>
    startWorkerLoop({ name, intervalMs: everyMs, pass, log });
  const relayers = lanes.flatMap(({ key, door, dailyWei, accounts }) =>
    accounts.map(({ chain, watch, reload }, index) => {
      const relayer = createRelayer({
        ...{ db, chain, log, nowMs, replaceAfterMs, leaders, dailyWei },
        addresses: () => accounts.map((each) => each.chain.relayerAddress),
        isWaiting: reload.isWaiting,
        onStep: watch.notePulse,
      });
      return loop(`relayer ${key} ${index}`, intervalMs, async () => {
        await watch.look();
        await door.look();
        if (leaders.isAnswering()) {
          await reload.apply();
          await relayer.pass();
        }
      });
    }),
  );
  const batchPages = createBatchPages(db, nowMs);
  const readiness = createReadiness([
    createDatabaseCheck(leaders.isAnswering),
    ...lanes.flatMap(({ door, silence, halt }) => [door.check, silence.check, halt.check]),
  ]);
  const hasher = createTreeHasher();
  /** Of the index of a chain. */
  const termOf = (chain: string) => leaders.term(`indexer ${chain}`);
  /** The final block that this process saw last, by chain. Absent: this process leads the index. */
  const followed = new Map<string, number>();
  const indexers = new Map(
    lanes.map(({ key, chain, door, silence, halt }) => {
      const indexer = createIndexer({ db, chain, log, nowMs, hashMany: hasher.hashMany });
      const pass = async () => {
        await door.look();
        if (leaders.isAnswering()) {
          const term = termOf(key);
          if (term === undefined) {
            followed.set(key, (await chain.fetchFinalBlock()).number);
          } else {
            followed.delete(key);
            await indexer.pass(term);
          }
          silence.noteAnswer();
          // First: a page that cannot be made must not hide a halt.
          await halt.look();
          await batchPages.extend(key);
        }
      };
      return [key, loop(`indexer ${key}`, intervalMs, pass)] as const;
    }),
  );
  const erasers = lanes.map(({ key, chain, door }) => {
    const { keepDeadNotesSeconds: keepSeconds } = config;
    const eraser = createEraser({ db, chain, log, nowMs, keepSeconds });
    return loop(`erasing notes ${key}`, eraseIntervalMs, async () => {
      await door.look();
      const term = termOf(key);
      if (term !== undefined) {
        await eraser.pass(term);
      }
    });
  });
  const accounts = loop('deleting unused accounts', accountsIntervalMs, async () => {
    await deleteUnusedEmployers(db, nowMs());
    await forgetFullBuckets(db);
  });
  const gate =
    config.gate &&
    createGateClient({
      url: config.gate.url,
      oauth: { ...config.gate.writer, tokenUrl: config.gate.tokenUrl, scope: 'gate.write' },
    });
  const gateReads =
    config.gate &&
    createGateClient({
      url: config.gate.url,
      oauth: {
        ...(config.gate.reader ?? config.gate.writer),
        tokenUrl: config.gate.tokenUrl,
        scope: 'gate.read',
      },
      timeoutMs: gateReadMs,
    });
  const readers = createReaders(config, { db, log, nowMs, gate });
  const stopping = new AbortController();
  const verifier = createProofVerifier();
  const batches = createBatchChecker();
  const app = createPlatformApp({
    ...config,
    db,
    credentials,
    log,
    nowMs,
    shareLimit: kind === 'postgres' ? (limit) => createSharedLimiter(db, limit) : undefined,
    poolChains: new Map(chains.map((chain) => [chain.key, chain])),
    checks: createSettlementChecks({
      batches,
      proofs: createProofCheck(verifier, verificationKeys),
    }),
    settlementLimits: {
      dailyGas: config.employerDailyGas,
      selfEnrolledDailyGas: config.selfEnrolledDailyGas,
      totalOf,
      deadlineSeconds: authorisationSeconds + config.voteLimitSeconds,
    },
    spendLimits: {
      dailyGas: config.holderDailyGas,
      dailyGasOfAll: config.spendsDailyGas,
      totalOf,
      deadlineSeconds: spendSeconds + config.voteLimitSeconds,
    },
    batchPages,
    gate,
    gateReads,
    gateAccess: config.gate,
    stopping: stopping.signal,
    ...(readers === undefined ? {} : { vendReader: readers.vendor.vend }),
    onAccepted: () => {
      for (const relayer of relayers) {
        relayer.kick();
      }
    },
    refreshIndex: async (chain) => {
      const end = performance.now() + refreshMs;
      await Promise.race([
        indexers.get(chain)?.passNow(),
        delay(refreshMs, undefined, { ref: false }),
      ]);
      const block = followed.get(chain);
      if (block !== undefined) {
        await waitUntilIndexed(db, chain, block, end - performance.now());
      }
    },
    readRelayerHealth: (chain) => laneOf(chain)?.watch.read(),
    findClosed: (chain) => laneOf(chain)?.door.check(),
    findProblem: readiness.find,
    metrics: {
      token: config.metricsToken,
      measures: [
        createBuildMeasure('platform', manifest.version),
        ...listPlatformMeasures(db, lanes),
      ],
    },
  });
  const control =
    config.dataDirectory === 'memory:'
      ? undefined
      : await startControl(config.dataDirectory, {
          db,
          credentials,
          log,
          nowMs,
          eligibility: { gate, invitations: config.admission },
          ...(readers === undefined ? {} : { tellGate: readers.tell }),
        });
  const listening = await listen((request, from) => app.fetch(request, from), config.listen, log);
  return {
    url: listening.url,
    reload() {
      reloadLanes(readConfig());
    },
    async close() {
      await drain(readiness, listening, config.drainMs, log);
      // An enrolment that waits for finality is answered as pending.
      stopping.abort();
      await Promise.all([listening.close(), control?.close()]);
      await Promise.all([verifier.close(), batches.close()]);
      const loops = [
        ...relayers,
        ...indexers.values(),
        ...erasers,
        accounts,
        ...(readers === undefined ? [] : [readers.loop]),
      ];
      await Promise.all(loops.map((loop) => loop.stop()));
      await hasher.close();
      for (const { chain } of lanes.flatMap(({ accounts }) => accounts)) {
        chain.close();
      }
      await database.close();
    },
  };
}

// A chain's fees have no upper limit. Without a cap, the cost of a settlement has none either.
function warnOfUncapped({ chains, maxFeePerGas, maxCost }: PlatformConfig, log: Log): void {
  const uncapped = Object.keys(chains.chains).filter(
    (name) => !maxFeePerGas.has(name) && !maxCost.has(name),
  );
  if (uncapped.length > 0) {
    log.warn(
      { chains: uncapped },
      'neither PLATFORM_RELAYER_MAX_FEE_GWEI nor PLATFORM_RELAYER_MAX_COST_COIN sets a cap here: the relayer pays any fees that the chain asks for',
    );
  }
}

/** Vends each employer its own reader of the gate, where this platform makes readers. */
function createReaders(
  { gate: access }: PlatformConfig,
  deps: Pick<ReaderVendorDeps, 'db' | 'log' | 'nowMs'> & { readonly gate: GateClient | undefined },
) {
  const { gate, log } = deps;
  if (access === undefined || gate === undefined || !access.makesReaders) {
    if (access?.reader !== undefined) {
      log.warn(
        'PLATFORM_GATE_READ_CLIENT_ID: the agents of all employers share this reader, so it cannot be revoked for one of them',
      );
    }
    return undefined;
  }
  const vendor = createReaderVendor({ ...deps, gate, platformSecret: access.writer.clientSecret });
  const loop = startWorkerLoop({
    name: 'gate readers',
    intervalMs: readersIntervalMs,
    pass: vendor.pass,
    log,
  });
  return {
    vendor,
    loop,
    async tell(employerId: string): Promise<boolean> {
      await Promise.race([loop.passNow(), delay(tellMs, undefined, { ref: false })]);
      return await vendor.knows(employerId);
    },
  };
}

// Another chain at the address of an RPC is a wrong configuration. What else fails may be a node that is down or lags.
async function assertChain(look: () => Promise<void>, log: Log): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (errorCodeOf(error) === 'wrong_chain') {
      throw error;
    }
    log.warn({ ...describeFailure(error) }, 'the chain cannot be used yet');
  }
}
