/**
 * The gate: ledger, policy, doctor and one custodian's transport, built from its configuration.
 *
 * @module
 */
import { type ChainsFile, isPoolError } from '@pool/core';
import type { Shell, ShellLog } from '@pool/http-server';
import { type AuditVerdict, type Ledger, openLedger, type Policy } from '@pool/policy';
import type { GateConfig } from '../config/config.ts';
import { ensureGateHome, ledgerPath, nameError } from '../config/gate-home.ts';
import {
  type LoadedPolicy,
  listPolicyPools,
  readPolicyFor,
  readSettings,
} from '../config/settings-files.ts';
import type { FaultPoint } from '../config/variables.ts';
import {
  checked,
  createDoctor,
  type Doctor,
  type DoctorCheck,
  type DoctorReport,
  failed,
  findWalletRoles,
  type GateHealth,
  passed,
  readHealth,
} from '../examine/doctor.ts';
import {
  createHistoryCheck,
  createHistoryExamination,
  type HistoryCheck,
} from '../examine/history.ts';
import { createApp } from '../http/app.ts';
import { listMeasures } from '../http/metrics.ts';
import { createFactSource, type FactReader, openPoolReader } from '../judge/facts.ts';
import { createIntake } from '../judge/intake.ts';
import { createJudge, type Judge } from '../judge/judge.ts';
import { createRebuilds, type Rebuilds } from '../judge/rebuilds.ts';
import { connectCustodian } from './transport.ts';

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
  /** Examines custodian, history, ledger and node, and erases what is past its retention. */
  examine(): Promise<DoctorReport>;
  /** One look at the custodian. Failures are logged. */
  poll(): Promise<void>;
  /** Pause between two looks. */
  readonly pollSeconds: number;
  /** What the gate's own nodes do not answer. */
  nodeProblems(): readonly string[];
  /** Reads the policy file again. A bad file keeps the policy as it is. @returns whether it took effect */
  reloadPolicy(): boolean;
  /** Called when something new may be there to look at. */
  onWake(listener: () => void): void;
  /** Called when another policy took effect: nothing is voted before the next examination. */
  onReload(listener: () => void): void;
  close(): void;
};

/** @throws PoolError `ledger_in_use`, `invalid_policy`, `invalid_configuration` */
export function openGate(options: GateOptions): Gate {
  const { config, log, isDryRun = false, nowMs = Date.now } = options;
  const fault = options.fault ?? createFault(config.fault);
  const settings = readSettings(config);
  const { chains } = settings;
  let { loaded } = settings;
  ensureGateHome(config.home);
  const ledger: Ledger = openLedger({ path: ledgerPath(config.home), role: 'voter' });
  adoptPolicy(ledger, loaded, nowMs());
  const policy = (): Policy => loaded.policy;
  const answers = new Map<string, number>();
  const counts = { answers, pollFailures: 0, policyReloads: 0 };
  let wake = (): void => undefined;
  let announceReload = (): void => undefined;
  let lastLookMs: number | undefined;

  const rebuilds: Rebuilds = createRebuilds({
    readFile: (digest) => ledger.readFile(digest),
    evidence: () => policy().evidence,
  });
  const openReader =
    options.openReader ??
    ((chain: ChainsFile['chains'][string]) => openPoolReader(chain, config.keys));
  const facts = createFactSource(chains, openReader, log);
  const judge: Judge = createJudge({ ledger, policy, rebuilds, facts, mayVote, nowMs, isDryRun });
  const custodian = connectCustodian({ config, chains, policy, nowMs });
  const transport = custodian.open({
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
  const history = createHistoryCheck({ source: custodian.history, ledger, policy });
  const { voteLimitSeconds } = config;
  const historyExamination = createHistoryExamination({ history, voteLimitSeconds, nowMs, log });
  const doctor = createDoctor({
    // The history first: a ledger that is older than it votes nothing.
    examinations: [historyExamination.examine, custodian.examine, examineLedger],
    nowMs,
    record: (report) => recordReport(ledger, log, report),
  });

  function mayVote(): boolean {
    return doctor.latest()?.ok === true && !ledger.status().isRestored;
  }

  /** Nothing is voted before the custodian was examined and its history was compared, from now on. */
  function examineAgain(): void {
    historyExamination.forget();
    doctor.forget();
    announceReload();
  }

  function health(): GateHealth {
    return readHealth({
      ledger,
      doctor,
      nowMs: nowMs(),
      lastLookMs,
      maxLookAgeMs: transport.maxLookAgeMs,
      nodeProblems: facts.problems(),
    });
  }

  let auditVerdict: AuditVerdict | undefined;
  const eraseExpired = (): number =>
    ledger.eraseManifests(nowMs() - config.retentionDays * 86_400_000, nowMs());

  /** A full disk, or a process that holds the lock. The gate goes on and recovers. */
  async function examineLedger(): Promise<readonly DoctorCheck[]> {
    try {
      eraseExpired();
      // Once, because it reads the whole log.
      auditVerdict ??= ledger.verifyAudit();
      return [passed('ledger', 'the ledger can be written'), describeAudit(auditVerdict)];
    } catch (error) {
      return [failUnwritable(error)];
    }
  }

  const intake = createIntake({ ledger, policy, rebuilds, facts, nowMs, onStored: () => wake() });
  const app = createApp({
    log,
    allowedHosts: config.allowedHosts,
    intake,
    readWallet: (address) => ({
      custodian: config.custodian.kind,
      roles: findWalletRoles(policy(), address),
    }),
    manifestToken: config.manifestToken,
    metricsToken: config.metricsToken,
    health,
    metrics: () => listMeasures(health(), counts),
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
    async examine(): Promise<DoctorReport> {
      const report = await doctor.examine();
      await facts.probe(listPolicyPools(policy()), nowMs());
      return report;
    },
    async poll(): Promise<void> {
      try {
        await transport.poll();
        lastLookMs = nowMs();
      } catch (error) {
        lastLookMs ??= nowMs();
        counts.pollFailures += 1;
        log.warn(
          { error: nameError(error) },
          'the custodian could not be looked at; it is tried again',
        );
      }
    },
    pollSeconds: transport.pollSeconds,
    nodeProblems: facts.problems,
    reloadPolicy(): boolean {
      try {
        const next = readPolicyFor(chains, config);
        ledger.policies.adopt(next, nowMs());
        loaded = next;
      } catch (error) {
        if (!isPoolError(error) || error.code === 'disk_full') {
          // Whatever failed, nothing is voted before the next examination.
          examineAgain();
          throw error;
        }
        const { message } = error;
        ledger.writeAudit('policy-refused', { message }, nowMs());
        log.error({ message }, 'the new policy file is not used; the earlier policy stays');
        return false;
      }
      // First of all: whatever fails now, nothing is voted before the next examination.
      examineAgain();
      rebuilds.forget();
      counts.policyReloads += 1;
      ledger.writeAudit('policy', { sha256: loaded.sha256, name: loaded.policy.name }, nowMs());
      log.info({ sha256: loaded.sha256 }, 'the policy was read again');
      wake();
      return true;
    },
    onWake(listener: () => void): void {
      wake = listener;
    },
    onReload(listener: () => void): void {
      announceReload = listener;
    },
    close(): void {
      try {
        ledger.writeAudit('stopped', {}, nowMs());
      } finally {
        ledger.close();
      }
    },
  };
}

/** The file takes effect only if the ledger's policy lets it, also at the start. */
function adoptPolicy(ledger: Ledger, loaded: LoadedPolicy, nowMs: number): void {
  try {
    ledger.policies.adopt(loaded, nowMs);
  } catch (error) {
    ledger.close();
    throw error;
  }
}

/** @returns what could not be recorded, as a check that fails */
function recordReport(
  ledger: Ledger,
  log: ShellLog,
  { ok, checks, atMs }: DoctorReport,
): readonly DoctorCheck[] {
  const wrong = checks.filter((check) => !check.ok);
  for (const { name, detail } of wrong) {
    log.error({ check: name, detail }, 'doctor: a check fails; nothing is voted');
  }
  try {
    ledger.writeAudit('doctor', { ok, failed: wrong.map(({ name }) => name) }, atMs);
    const head = ledger.findAuditHead();
    log.info({ seq: head?.seq, hash: head?.hash }, 'audit log: its newest entry');
  } catch (error) {
    const check = failUnwritable(error);
    log.error({ check: check.name, detail: check.detail }, 'doctor: nothing is voted');
    return [check];
  }
  if (ok) {
    log.info({ checks: checks.length }, 'doctor: every check passed');
  }
  return [];
}

function describeAudit(verdict: AuditVerdict): DoctorCheck {
  return checked(
    'audit-log',
    verdict.kind === 'intact',
    'the audit log was intact at the start, and so were the daily sums',
    `the audit log is broken: ${verdict.kind === 'broken' ? verdict.message : ''}; find out who wrote into the ledger, and restore it from a backup`,
  );
}

/** The messages of SQLite name no content. */
function failUnwritable(error: unknown): DoctorCheck {
  const reason = error instanceof Error ? error.message : 'unknown';
  return failed(
    'ledger',
    `the ledger cannot be written (${reason}); look at the disk of APPROVE_HOME, and at what else has the file open`,
  );
}

function createFault(configured: FaultPoint | undefined): (point: FaultPoint) => void {
  return (point) => {
    if (point === configured) {
      process.kill(process.pid, 'SIGKILL');
    }
  };
}
