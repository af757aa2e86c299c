/**
 * The platform's HTTP application: all routes over their dependencies, without I/O of its own.
 *
 * @module
 */
import { createApiPages, edgeApi, platformApi, type RelayerHealth } from '@pool/api';
import type { ChainsFile, Secret } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Check } from '@pool/http-server';
import {
  addApiPages,
  addHealthRoutes,
  addMetricsRoute,
  addPageFolder,
  createShell,
  describeFailure,
  type Log,
  type Measure,
  type Shell,
} from '@pool/http-server';
import type { PoolChain, SettlementChecks, SettlementLimits, SpendLimits } from '@pool/relayer';
import { type BatchPages, createBatchPages } from '@pool/relayer';
import { addEmployerRoutes } from './accounts/employer-routes.ts';
import { addInvitationRoutes } from './accounts/invitation-routes.ts';
import { addAuthRoutes } from './auth/auth-routes.ts';
import { createContractWallets } from './auth/contract-wallets.ts';
import type { PayeePage } from './config.ts';
import type { CredentialMint } from './credentials/credential.ts';
import { createCredentialMemory } from './credentials/credential-memory.ts';
import { type BootstrapSettings, describeChains, type GateAccessConfig } from './edge/bootstrap.ts';
import { addEdgeRoutes } from './edge/edge-routes.ts';
import { addEligibilityRoute, type EligibilityGate } from './edge/eligibility-route.ts';
import { addHolderRoutes } from './edge/holder-routes.ts';
import type { AdmissionConfig } from './employers/admission.ts';
import type { EnrolmentGate } from './enrolment/gate-confirmation.ts';
import { createRateLimits, type RateLimitConfig, type ShareLimit } from './http/rate-limit.ts';

export type PlatformAppDeps = {
  readonly db: PlatformDatabase;
  readonly credentials: CredentialMint;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly chains: ChainsFile;
  readonly defaultChain: string;
  readonly poolChains: ReadonlyMap<string, PoolChain>;
  readonly checks: SettlementChecks;
  /** Limits of new settlements. Default: `defaultSettlementLimits`. */
  readonly settlementLimits?: SettlementLimits;
  /** Limits of new spends. Default: `defaultSpendLimits`. */
  readonly spendLimits?: SpendLimits;
  /** Whether holders may ask for the paths of their notes. */
  readonly makesNotePaths: boolean;
  readonly gate: EnrolmentGate | undefined;
  /** The gate as holders read it through this platform. Undefined: there is no gate. */
  readonly gateReads: EligibilityGate | undefined;
  readonly gateAccess: GateAccessConfig | undefined;
  /** Absent: this platform creates no readers of the gate. */
  readonly vendReader?: BootstrapSettings['vendReader'];
  readonly gateWaitMs: number;
  /** Aborted when the process stops. Absent: never. */
  readonly stopping?: AbortSignal;
  readonly admission: AdmissionConfig;
  readonly nonceTtlSeconds: number;
  readonly sessionTtlSeconds: number;
  readonly signInChainIds: readonly number[];
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly proxyHops: number;
  readonly rateLimits: RateLimitConfig;
  /** Absent: the limits are of this process. */
  readonly shareLimit?: ShareLimit | undefined;
  /** Absent: pages of its own. */
  readonly batchPages?: BatchPages;
  readonly onAccepted: () => void;
  readonly refreshIndex: (chain: string) => Promise<void>;
  /** Why this process should not be sent requests. Absent: it always should. */
  readonly findProblem?: Check;
  /** Absent: there is no `/metrics`. */
  readonly metrics?: { readonly token: Secret | undefined; readonly measures: readonly Measure[] };
  /** The last findings of the relayer's worker. */
  readonly readRelayerHealth: (chain: string) => RelayerHealth | undefined;
  /** Undefined: there is no `/payee/`. */
  readonly payeePage?: PayeePage | undefined;
  /** Why a chain is closed. Absent: each chain is open. */
  readonly findClosed?: BootstrapSettings['findClosed'];
};

// A settlement of 256 slots is about 150 kB of hex.
const maxBodyBytes = 512 * 1024;

export function createPlatformApp(deps: PlatformAppDeps): Shell {
  const { db, credentials, log, nowMs } = deps;
  const limits = createRateLimits(deps.rateLimits, nowMs, deps.shareLimit);
  const { domain, uri } = deps.chains.evidence;
  const app = createShell({
    log,
    allowedHosts: [domain, ...deps.allowedHosts],
    hostsVariable: 'PLATFORM_ALLOWED_HOSTS',
    allowedOrigins: [new URL(uri).origin, ...deps.allowedOrigins],
    maxBodyBytes,
    describeFailure,
    proxyHops: deps.proxyHops,
  });
  addHealthRoutes(app, deps.findProblem);
  addMetricsRoute(app, deps.metrics?.measures ?? [], deps.metrics?.token);
  // The payees' page keeps secrets of this origin, which no other script may reach.
  const isReadOnly = deps.payeePage !== undefined;
  addApiPages(app, createApiPages({ '': platformApi, '/agent-edge': edgeApi }), { isReadOnly });
  if (deps.payeePage !== undefined) {
    addPageFolder(app, { path: '/payee', ...deps.payeePage, readersPage: 'audit.html' });
  }
  addAuthRoutes(app, {
    db,
    credentials,
    nowMs,
    limits,
    contracts: createContractWallets(deps.poolChains.values()),
    settings: {
      domain,
      uri,
      chainIds: deps.signInChainIds,
      nonceTtlSeconds: deps.nonceTtlSeconds,
      sessionTtlSeconds: deps.sessionTtlSeconds,
    },
  });
  const { gate, gateWaitMs, stopping, admission } = deps;
  const callers = { db, credentials, memory: createCredentialMemory(), limits, nowMs, admission };
  const { findClosed = () => undefined } = deps;
  addEmployerRoutes(app, {
    ...{ ...callers, log, gate, gateWaitMs, stopping },
    assertEnrols: () => {
      assertAnyOpen(Object.keys(deps.chains.chains), findClosed);
    },
  });
  addInvitationRoutes(app, {
    ...callers,
    deployment: { chain: deps.defaultChain, chains: describeChains(deps.chains) },
  });
  const bootstrap: BootstrapSettings = {
    defaultChain: deps.defaultChain,
    chains: deps.chains.chains,
    gate: deps.gateAccess,
    readRelayerHealth: deps.readRelayerHealth,
    findClosed,
    ...(deps.vendReader === undefined ? {} : { vendReader: deps.vendReader }),
  };
  const edge = {
    ...callers,
    bootstrap,
    chains: deps.poolChains,
    checks: deps.checks,
    onAccepted: deps.onAccepted,
    refreshIndex: deps.refreshIndex,
  };
  addHolderRoutes(app, {
    ...edge,
    batchPages: deps.batchPages ?? createBatchPages(db, nowMs),
    makesNotePaths: deps.makesNotePaths,
    ...(deps.spendLimits === undefined ? {} : { spendLimits: deps.spendLimits }),
  });
  addEligibilityRoute(app, { ...callers, bootstrap, gate: deps.gateReads });
  addEdgeRoutes(app, {
    ...edge,
    ...(deps.settlementLimits === undefined ? {} : { settlementLimits: deps.settlementLimits }),
    hasGate: gate !== undefined,
  });
  return app;
}

/** A wallet enrols for all chains at once. @throws PoolError why all of them are closed (503) */
function assertAnyOpen(
  chains: readonly string[],
  findClosed: BootstrapSettings['findClosed'],
): void {
  const closed = chains.map(findClosed);
  const [first] = closed;
  if (first !== undefined && closed.every((problem) => problem !== undefined)) {
    throw first;
  }
}
