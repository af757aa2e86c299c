/**
 * The composition root: configuration in, a running agent out. The real dependencies (clock, chain, platform, gate,
 * prover, key, files) are created here once and passed down.
 *
 * @module
 */

import { openProductionKeys } from '@pool/circuits';
import { deriveTraceId, PoolError } from '@pool/core';
import type { Shell, ShellLog } from '@pool/http-server';
import { findJobServer, type JobStore, openJobStore } from '@pool/idempotency';
import type { JobWorker } from '@pool/idempotency/engine';
import {
  createFingerprinter,
  createJobProgress,
  createReadiness,
  createSpendProverPort,
  createStoreProbe,
  createTenancy,
  custodyKeepMs,
  ensureFingerprintKey,
  findKeySource,
  type JobRunnerOptions,
  logJobEvent,
  reportCustody,
  startRetention,
  startTenant,
  type Tenant,
  withTenancy,
} from '@pool/operations';
import { listEmployersOf, shareLabels } from '@pool/pay-run';
import { createEdgeClient, createKeyGate, createKeyVerifier } from '@pool/platform-client';
import { assertSigns, openHolder } from '@pool/signers';
import { createComputeQueue, createKeyLock } from '@pool/wallet';
import type { Log } from '@pool/wallet/node';
import {
  createHolderHistory,
  createHolderNotes,
  createHolderSpends,
  type HolderNotes,
  listSentHashes,
  openOpeningsStore,
  type SharedState,
  systemClock,
} from '@pool/wallet/node';
import { readTargets } from '@pool/webhooks';
import type { Config } from './config/config.ts';
import { version } from './config/version.ts';
import { createApp } from './http/app.ts';
import { createCredentialLimiter } from './http/bearer.ts';
import { addConsole } from './http/console.ts';
import { type ProcessUsage, renderAgentMetrics } from './http/metrics.ts';
import { type AgentParts, createParts } from './services/agent-parts.ts';
import {
  createAcceleratorProbe,
  createConfiguredProver,
  openFleet,
} from './services/agent-prover.ts';
import { createDeliveries } from './services/holder/served-notes.ts';
import { readOldestJobs } from './services/jobs/job-ages.ts';
import { createFaultHandler, startRunner } from './services/jobs/runner.ts';
import { startConfiguredWebhooks } from './services/jobs/webhooks.ts';
import { createPrepareCheck, createReleaseForecast, openReleases } from './services/releases.ts';
import { requireRoleToken } from './services/signers/role-tokens.ts';
import { ensureAgentHome, ensureLoopbackToken } from './state/agent-home.ts';
import { openAgentState } from './state/agent-state.ts';

export type Agent = {
  readonly app: Shell;
  readonly tenant: Tenant;
  /** Ends the requests that wait for a job, so that the server can close. */
  endWaits(): void;
  /** Ends work at its next safe point, releases leases, closes files. */
  close(): Promise<void>;
};

export async function startAgent(config: Config, log: ShellLog): Promise<Agent> {
  ensureAgentHome(config.home);
  const loopbackToken = ensureLoopbackToken(config.home);
  const keySource = findKeySource(config);
  const keys = keySource && openProductionKeys(keySource);
  // Before any connection: an agent must not start with a key under which anyone can forge proofs.
  await keys?.checkKeys();
  if (config.webhooks !== undefined) {
    // A wrong file ends the start before anything is open.
    readTargets(config.webhooks);
  }
  const fingerprintKey = ensureFingerprintKey(config.home, config.fingerprintKey);
  const fingerprints = createFingerprinter(fingerprintKey);
  const parts = await createParts(config);
  for (const { variable, message } of config.warnings) {
    log.warn({ variable }, message);
  }
  const { store, state, fleet } = await openStores(config, log, fingerprints.keyId, () =>
    openFleet(config, keys, log),
  );
  const { pins, paidKeys, turns } = state;
  const releases = await openReleases(config, parts.contexts);
  const prover = createConfiguredProver(config, keys, log);
  const progress = createJobProgress(systemClock.nowMs);
  const onFaultPoint = createFaultHandler(config.fault);
  // One for the process: the runner is replaced when the employer changes.
  const computeQueue = createComputeQueue();
  const locks = createKeyLock();
  const stopping = new AbortController();
  // Not awaited: an agent whose custodian or gate is away for a moment serves everything else.
  const custodyReported = reportCustody(parts.custody, log, stopping.signal);
  let runner: JobWorker | undefined;
  let ended: Promise<void> = Promise.resolve();

  const onEvent: JobRunnerOptions['onEvent'] = (key, event, requestId) => {
    progress.note(key, event);
    logJobEvent(log, event, { trace: deriveTraceId(key), requestId });
    if (event.kind === 'stage' || event.kind === 'outcome') {
      webhooks?.wake();
    }
  };
  const tenant = startTenant({
    bootstrap: () => parts.edge.bootstrap(),
    tenancy: createTenancy({
      home: config.home,
      configured: config.employerId,
      listStoredEmployers: () => listEmployersOf(store),
      nowMs: systemClock.nowMs,
    }),
    log,
    onAnswer: ({ gate }) => parts.gates.update(gate),
    onReady: ({ employerId: scope }) => {
      const work = { config, parts, store, scope, keys, paidKeys, turns, fingerprints };
      runner = startRunner({
        ...work,
        prover: fleet ?? prover,
        computeQueue,
        releases,
        locks,
        onFaultPoint,
        onEvent,
      });
    },
    onRefused: () => {
      const refused = runner;
      runner = undefined;
      ended = Promise.all([ended, refused?.stop()]).then(() => undefined);
    },
  });
  const webhooks = startConfiguredWebhooks({
    ...{ config, store, log },
    findScope: () => (tenant.refusal() === undefined ? tenant.employerId() : undefined),
  });
  const readiness = createReadiness(
    {
      ...parts.probes,
      platform: withTenancy(parts.probes.platform, async () => tenant.refusal()),
      accelerator: fleet?.probe ?? createAcceleratorProbe(prover),
      ...(findJobServer(config.jobs) === undefined ? {} : { jobStore: createStoreProbe(store) }),
    },
    {
      nowMs: () => performance.now(),
      ...(parts.custody.length === 0 ? {} : { signerKeepMs: custodyKeepMs }),
    },
  );

  const openings = state.openOpenings(fingerprintKey);
  // What a holder pays stays on this machine, also if the jobs are shared.
  const sent = findJobServer(config.jobs) === undefined ? openings : openOpeningsStore(config.home);
  const retention = startRetention({
    ...{ store, days: config.retentionDays, log },
    openings: {
      keep: openings.keep,
      eraseBefore: async (limitMs) =>
        (await sent.eraseBefore(limitMs)) +
        (sent === openings ? 0 : await openings.eraseBefore(limitMs)),
    },
    disclosureYears: config.disclosureYears,
    nowMs: systemClock.nowMs,
  });
  const holderNotes = createConfiguredNotes(config, parts, tenant, log);
  const validation = parts.createValidation({
    bootstrap: tenant.current,
    pins,
    paidKeys,
    check: readiness.check,
    forecastRelease: createReleaseForecast(releases, systemClock.nowMs),
  });
  const holderSpends = createHolderSpends({
    // On disk whatever the job store is: the archive holds the only copy of a spend's change.
    home: config.home,
    log,
    settings: config.holder,
    requireRoleToken: (operation) => requireRoleToken(operation, config.holder),
    assertSigns: () => assertSigns(config.holder, 'spend'),
    retentionDays: config.retentionDays,
    keepOpenings: sent.keep,
    journal: await openJobStore({ url: config.spendJournal }),
    onFaultPoint: (point) => onFaultPoint(`spend:${point}`),
    openHolder: holderNotes.holder,
    findChain: holderNotes.findChain,
    chains: parts.contexts,
    notes: holderNotes,
    lookup: parts.edge,
    evidence: validation.checks.evidence,
    gates: parts.gates,
    prover: createSpendProverPort(
      prover,
      config.prover === 'mock' ? 'mock' : 'real',
      keys?.readVerificationKey,
    ),
    locks,
    createEdge: (token) => createEdgeClient({ url: config.platformUrl, token }),
  });
  const holderHistory = createHolderHistory({
    home: config.jobStore === 'memory:' ? undefined : config.home,
    notes: holderNotes,
    findSpend: holderSpends.find,
    readLocked: holderSpends.locked,
    listSentHashes: (chainId) => listSentHashes(config.home, chainId),
    log,
  });
  const limiter = createCredentialLimiter(config.rateLimit, () => performance.now());
  const startedAtMs = systemClock.nowMs();
  const app = createApp({
    version,
    startedAtMs,
    nowMs: systemClock.nowMs,
    allowedHosts: [...config.allowedHosts, config.host.toLowerCase()],
    log,
    store,
    bearer: {
      loopbackToken,
      verifier:
        config.verifyUrl === undefined
          ? undefined
          : createKeyGate({
              verifier: createKeyVerifier({
                verifyUrl: config.verifyUrl,
                edgeToken: config.platformToken,
              }),
              isAdmitted: limiter.isAdmitted,
              nowMs: () => performance.now(),
            }),
      employerId: tenant.employerId,
      refusal: tenant.refusal,
      limiter,
    },
    acceptingEmployerId: () => tenant.current().employerId,
    assertMayPrepare: createPrepareCheck(releases),
    settlements: { platform: parts.edge, fingerprints },
    validation,
    readiness,
    progress,
    metricsToken: config.metricsToken,
    renderMetrics: async () =>
      renderAgentMetrics({
        version,
        prover: prover.metrics(),
        usage: readUsage(startedAtMs),
        unerasedJobs: retention.failedJobs(),
        oldestJobs: await readOldestJobs(store, systemClock.nowMs()),
      }),
    // A getter, because the first proof chooses the accelerator.
    get prover() {
      return (fleet ?? prover).accelerator;
    },
    wake: () => {
      runner?.wake();
      webhooks?.wake();
    },
    cancel: (key) => runner?.cancel(key),
    stopping: stopping.signal,
    onFaultPoint,
    holderNotes,
    holderHistory,
    holderSpends,
  });
  const closeConsole = addConsole(app, {
    ...{ config, loopbackToken },
    releases: releases && { ...releases, store },
    owners: parts.owners && { ...parts.owners, store },
  });

  return {
    app,
    tenant,
    endWaits: () => stopping.abort(),
    async close() {
      stopping.abort();
      tenant.stop();
      retention.stop();
      await closeConsole();
      await ended;
      await custodyReported;
      await runner?.stop();
      await webhooks?.stop();
      await holderSpends.close();
      await prover.close();
      await fleet?.close();
      holderHistory.close();
      await holderNotes.close();
      parts.close();
      openings.close();
      if (sent !== openings) {
        sent.close();
      }
      await releases?.log.close();
      await state.close();
      await store.close();
    },
  };
}

/** On failure nothing stays open, so that the process ends. */
async function openStores(
  config: Config,
  log: Log,
  fingerprintKeyId: string,
  open: () => ReturnType<typeof openFleet>,
): Promise<{
  readonly store: JobStore;
  readonly state: SharedState;
  readonly fleet: Awaited<ReturnType<typeof openFleet>>;
}> {
  const store = await openJobStore(config.jobs);
  let state: SharedState | undefined;
  try {
    state = await openAgentState(config);
    // With another key, each agent would take the other's requests for other requests.
    await state.assertShared(
      'DISBURSE_FINGERPRINT_KEY (or fingerprint.key in the agent directory)',
      fingerprintKeyId,
    );
    if (!(await shareLabels(config))) {
      log.error(
        { code: 'pay_run_conflict' },
        'a pay-run label of this machine is of another roster in the job store; `disburse` refuses here, and names it',
      );
    }
    return { store, state, fleet: await open() };
  } catch (error) {
    await state?.close();
    await store.close();
    throw error;
  }
}

/** Opens nothing: holder, cache and threads are made at the first request of a holder. */
function createConfiguredNotes(
  config: Config,
  parts: AgentParts,
  tenant: Pick<Tenant, 'current'>,
  log: Log,
): HolderNotes {
  const { platformUrl, chainsFile, holder } = config;
  const findChainKey = (): string => config.chain ?? tenant.current().chain;
  const base = {
    // On disk whatever the job store is: the archive may hold the only copy of a note.
    home: config.home,
    log,
    findChain: () => {
      const key = findChainKey();
      const context = parts.contexts.get(key);
      if (context === undefined) {
        throw new PoolError(
          'invalid-chain',
          `the holder's chain ${key} is not in chains.json, or has no pool; set DISBURSE_CHAIN to a chain with a pool`,
        );
      }
      return context;
    },
  };
  return createHolderNotes({
    ...base,
    openHolder: () => openHolder({ chain: findChainKey(), chainsFile, holder }),
    createDeliveries: (chain) =>
      createDeliveries({ platformUrl, balanceToken: holder.balanceToken, chain }),
    fetchRegistered:
      holder.earlierViewingKeys.length === 0
        ? undefined
        : async (chain, address) =>
            (await parts.edge.lookupRecipients(chain, [address]))[0]?.encryptionPublicKey,
  });
}

function readUsage(startedAtMs: number): ProcessUsage {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return { rssBytes: rss, heapBytes: heapUsed, cpuSeconds: (user + system) / 1e6, startedAtMs };
}
