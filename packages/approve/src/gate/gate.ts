/**
 * The gate: ledger, policy, doctor and one custodian's transport, built from its configuration.
 *
 * @module
 */
import { type ChainsFile, errorCodeOf, isPoolError } from '@pool/core';
import type { Shell, ShellLog } from '@pool/http-server';
import { type Ledger, openLedger, type Policy } from '@pool/policy';
import type { GateConfig } from '../config/config.ts';
import type { FaultPoint } from '../config/variables.ts';
import { createApp } from '../http/app.ts';
import { renderMetrics } from '../http/metrics.ts';
import {
  createDoctor,
  type Doctor,
  type DoctorCheck,
  type DoctorReport,
  failed,
  passed,
} from './doctor.ts';
import { createFactSource, type FactReader } from './facts.ts';
import { ensureGateHome, ledgerPath } from './gate-home.ts';
import { type GateHealth, readHealth } from './health.ts';
import { createHistoryCheck, type HistoryCheck } from './history.ts';
import { createIntake } from './intake.ts';
import { createJudge, type Judge } from './judge.ts';
import { createRebuilds, type Rebuilds } from './rebuilds.ts';
import { readChainsFile, readPolicyFile } from './settings-files.ts';
import { createTransport, type Transport } from './transport.ts';

export type GateOptions = {
  readonly config: GateConfig;
  readonly log: ShellLog;
  /** Votes nothing and logs what it would. */
  readonly isDryRun?: boolean;
  readonly nowMs?: () => number;
  /** Default: the pool readers of the gate's own chain settings. */
  readonly openReader?: (settings: ChainsFile['chains'][string]) => Promise<FactReader>;
  /** Ends the process at a named point. Default: `APPROVE_FAULT`. */
  readonly fault?: (point: FaultPoint) => void;
};

export type Gate = {
  readonly app: Shell;
  readonly ledger: Ledger;
  readonly doctor: Doctor;
  readonly history: HistoryCheck;
  health(): GateHealth;
  /** Examines the custodian, and compares its history with the ledger. */
  examine(): Promise<DoctorReport>;
  /** One look at the custodian, for a transport that looks. Failures are logged. */
  poll(): Promise<void>;
  /** Reads the policy file again. A bad file keeps the policy as it is. @returns whether it took effect */
  reloadPolicy(): boolean;
  /** Called when something new may be there to look at. */
  onWake(listener: () => void): void;
  /** Called when another policy took effect: nothing is voted before the next examination. */
  onReload(listener: () => void): void;
  eraseExpired(): number;
  close(): void;
};

/** @throws PoolError `ledger_in_use`, `invalid_policy`, `invalid_configuration` */
export function openGate(options: GateOptions): Gate {
  const { config, log, isDryRun = false, nowMs = Date.now } = options;
  const fault = options.fault ?? createFault(config.fault);
  let loaded = readPolicyFile(config.policyFile);
  const chains = readChainsFile(config.chainsFile);
  ensureGateHome(config.home);
  const ledger: Ledger = openLedger({ path: ledgerPath(config.home), role: 'voter' });
  const policy = (): Policy => loaded.policy;
  const answers = new Map<string, number>();
  const counts = { answers, pollFailures: 0, policyReloads: 0 };
  let wake = (): void => undefined;
  let announceReload = (): void => undefined;
  /** Since the start, and since the policy was read. */
  let isCompared = false;
  let lastLookMs: number | undefined;

  const rebuilds: Rebuilds = createRebuilds({
    readFile: (digest) => ledger.readFile(digest),
    evidence: () => policy().evidence,
  });
  const facts = createFactSource(chains, options.openReader);
  const judge: Judge = createJudge({ ledger, policy, rebuilds, facts, mayVote, nowMs, isDryRun });
  const transport: Transport = createTransport({
    config,
    chains,
    policy,
    judge,
    ledger,
    isDryRun,
    nowMs,
    log,
    fault,
    mayVote,
    onUnknownVote: () => examineAgain(),
    onAnswer: (value) => void answers.set(value, (answers.get(value) ?? 0) + 1),
  });
  const history = createHistoryCheck({ source: transport.history, ledger, policy });
  const doctor = createDoctor({
    // The history first: a ledger that is older than it votes nothing.
    examinations: [examineHistory, transport.examine],
    nowMs,
    onReport: (report) => reportDoctor(ledger, log, report),
  });

  function mayVote(): boolean {
    return doctor.latest()?.ok === true && !ledger.status().isRestored;
  }

  /** Nothing is voted before the custodian was examined and its history was compared, from now on. */
  function examineAgain(): void {
    isCompared = false;
    doctor.forget();
    announceReload();
  }

  function health(): GateHealth {
    return readHealth({
      ledger,
      doctor,
      nowMs: nowMs(),
      lastLookMs: transport.poll === undefined ? undefined : lastLookMs,
      maxLookAgeMs: transport.maxLookAgeMs,
    });
  }

  /** Fails until one comparison succeeded: a ledger that was restored is only noticed by it. */
  async function examineHistory(): Promise<readonly DoctorCheck[]> {
    const compared = loaded;
    const now = nowMs();
    try {
      const voteMs = isCompared ? 0 : 1000 * config.voteLimitSeconds;
      const { missing, unknown } = await history.compare({ nowMs: now, voteMs });
      isCompared = compared === loaded;
      if (missing.length > 0) {
        log.error(
          { missing: missing.length },
          'the custodian shows approvals that the ledger does not have; nothing is voted before "approve ledger rebaseline"',
        );
      }
      if (unknown.length > 0) {
        log.warn(
          { unknown: unknown.length, first: unknown[0]?.id ?? null, why: unknown[0]?.why ?? null },
          "the custodian shows approvals by the gate's user that the gate cannot describe",
        );
      }
    } catch (error) {
      log.warn({ error: codeOf(error) }, "the custodian's history could not be read");
    }
    return [
      isCompared
        ? passed('history', "the custodian's history was compared with the ledger")
        : failed(
            'history',
            "the custodian's history was not compared with the ledger yet; read the log, and let the gate's user read it",
          ),
    ];
  }

  const intake = createIntake({ ledger, policy, rebuilds, facts, nowMs, onStored: () => wake() });
  const app = createApp({
    log,
    allowedHosts: config.allowedHosts,
    intake,
    manifestToken: config.manifestToken,
    metricsToken: config.metricsToken,
    health,
    metrics: () => renderMetrics(health(), counts),
    nowMs,
    ...transport.routes(() => wake()),
  });
  ledger.writeAudit(
    'started',
    { custodian: config.custodian.kind, policySha256: loaded.sha256, isDryRun },
    nowMs(),
  );

  return {
    app,
    ledger,
    doctor,
    history,
    health,
    examine: () => doctor.examine(),
    async poll() {
      try {
        await transport.poll?.();
        lastLookMs = nowMs();
      } catch (error) {
        lastLookMs ??= nowMs();
        counts.pollFailures += 1;
        log.warn(
          { error: codeOf(error) },
          'the custodian could not be looked at; it is tried again',
        );
      }
    },
    reloadPolicy() {
      try {
        loaded = readPolicyFile(config.policyFile);
      } catch (error) {
        const message = isPoolError(error) ? error.message : 'unexpected error';
        ledger.writeAudit('policy-refused', { message }, nowMs());
        log.error({ message }, 'the new policy file is not used; the earlier policy stays');
        return false;
      }
      rebuilds.forget();
      counts.policyReloads += 1;
      ledger.writeAudit('policy', { sha256: loaded.sha256, name: loaded.policy.name }, nowMs());
      log.info({ sha256: loaded.sha256 }, 'the policy was read again');
      examineAgain();
      wake();
      return true;
    },
    onWake(listener) {
      wake = listener;
    },
    onReload(listener) {
      announceReload = listener;
    },
    eraseExpired: () => ledger.eraseManifests(nowMs() - config.retentionDays * 86_400_000, nowMs()),
    close() {
      ledger.writeAudit('stopped', {}, nowMs());
      ledger.close();
    },
  };
}

function reportDoctor(ledger: Ledger, log: ShellLog, { ok, checks, atMs }: DoctorReport): void {
  const wrong = checks.filter((check) => !check.ok);
  ledger.writeAudit('doctor', { ok, failed: wrong.map(({ name }) => name) }, atMs);
  for (const { name, detail } of wrong) {
    log.error({ check: name, detail }, 'doctor: the gate can be gone around; nothing is voted');
  }
  if (ok) {
    log.info({ checks: checks.length }, 'doctor: every check passed');
  }
}

function createFault(configured: FaultPoint | undefined): (point: FaultPoint) => void {
  return (point) => {
    if (point === configured) {
      process.kill(process.pid, 'SIGKILL');
    }
  };
}

function codeOf(error: unknown): string {
  return errorCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
}
