/**
 * `approve policy lint`, `config check` and `doctor`: read the files and the custodian as the gate would, and say what is wrong or likely
 * unintended.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { type Ledger, lintPolicy, openLedger, type Policy, type PolicyFinding } from '@pool/policy';
import { parseGateConfig, parseGatePlaces } from '../config/config.ts';
import { describeInput, ledgerPath } from '../config/gate-home.ts';
import {
  compareWithChains,
  parsePolicyFile,
  readChains,
  readSettings,
} from '../config/settings-files.ts';
import {
  checked,
  createDoctor,
  type DoctorCheck,
  type DoctorReport,
  passed,
} from '../examine/doctor.ts';
import { createHistoryCheck, createHistoryExamination } from '../examine/history.ts';
import { connectCustodian } from '../gate/transport.ts';
import { type Call, exitCodes, type Outcome } from './output.ts';

// `approve doctor`: proves that the gate cannot be gone around, compares the custodian's history with the ledger, and says what is wrong.

export async function runDoctor({ source, options, nowMs, streams }: Call): Promise<Outcome> {
  const config = parseGateConfig(source, options.envFile);
  const { loaded, chains } = readSettings(config);
  const policy = (): Policy => loaded.policy;
  const custodian = connectCustodian({ config, chains, policy, nowMs });
  const examineHistory = async (): Promise<readonly DoctorCheck[]> => {
    const path = ledgerPath(config.home);
    if (!existsSync(path)) {
      return [
        passed('history', 'there is no ledger yet; the gate compares one before its first vote'),
      ];
    }
    // As the running gate does: a ledger that lacks an approval counts as restored from then on.
    const ledger = openLedger({ path, role: 'operator' });
    try {
      const tell = (fields: object, message = ''): void =>
        streams.err(`${message}: ${JSON.stringify(fields)}`);
      const { examine } = createHistoryExamination({
        history: createHistoryCheck({ source: custodian.history, ledger, policy }),
        voteLimitSeconds: config.voteLimitSeconds,
        nowMs,
        log: { warn: tell, error: tell },
      });
      return [...(await examine()), checkRestored(ledger)];
    } finally {
      ledger.close();
    }
  };
  const doctor = createDoctor({
    examinations: [examineHistory, custodian.examine],
    nowMs,
  });
  const report = await doctor.examine();
  const code = report.ok ? exitCodes.ok : exitCodes.error;
  return { code, document: report, text: renderReport(report) };
}

function checkRestored(ledger: Ledger): DoctorCheck {
  const { isRestored, restoredBecause = 'unknown' } = ledger.status();
  return checked(
    'restored',
    !isRestored,
    'the ledger does not count as restored',
    `the ledger counts as restored (${restoredBecause}); run "pool-approve ledger rebaseline --by NAME"`,
  );
}

function renderReport({ ok, checks }: DoctorReport): string {
  const lines = checks.map(
    (check) => `${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.detail}`,
  );
  const end = ok
    ? 'Every check passed: the gate cannot be gone around.'
    : 'A check failed: the gate votes nothing until it is corrected.';
  return [...lines, end].join('\n');
}

/** Also compares it with the chain settings. The argument is a file, or `-` for standard input; default: the gate's own. */
export function runPolicyLint({ source, options, argument }: Call): Outcome {
  const { policyFile, chainsFile, voteLimitSeconds } = parseGatePlaces(source, options.envFile);
  const path = argument ?? policyFile;
  const { policy, sha256 } = parsePolicyFile(path, source.readFile);
  const findings = [...lintPolicy(policy, { voteLimitSeconds }), ...lintChains(policy, chainsFile)];
  const lines = findings.map(
    ({ severity, path: place, message }) =>
      `${severity}: ${place === '' ? '' : `${place}: `}${message}`,
  );
  const hasError = findings.some(({ severity }) => severity === 'error');
  const name = describeInput(path);
  const end = hasError ? `${name} has problems.` : `${name} can be used (sha256 ${sha256}).`;
  return {
    code: hasError ? exitCodes.refused : exitCodes.ok,
    document: { ok: !hasError, sha256, findings },
    text: [...lines, end].join('\n'),
  };
}

function lintChains(policy: Policy, chainsFile: string): readonly PolicyFinding[] {
  if (!existsSync(chainsFile)) {
    const message = `Pools and tokens were not compared with the chain settings: ${chainsFile} does not exist. Name the file in APPROVE_CHAINS_FILE.`;
    return [{ severity: 'warning', path: '', message }];
  }
  return compareWithChains(policy, readChains(chainsFile)).map(({ path, message }) => ({
    severity: 'error',
    path,
    message: `${chainsFile} differs: ${message}`,
  }));
}

/** Reads everything that the gate reads at its start. It starts nothing and sends nothing. @throws PoolError that names every problem */
export function runConfigCheck({ source, options }: Call): Outcome {
  const { home, policyFile, chainsFile, custodian, host, port, voteLimitSeconds } = parseGateConfig(
    source,
    options.envFile,
  );
  const settings = readSettings({ policyFile, chainsFile, voteLimitSeconds });
  const { policy, sha256 } = settings.loaded;
  const chains = Object.keys(settings.chains.chains);
  const document = {
    ok: true,
    home,
    custodian: custodian.kind,
    listen: `${host}:${port}`,
    voteLimitSeconds,
    policy: { file: policyFile, name: policy.name, sha256 },
    chains: { file: chainsFile, keys: chains },
  };
  const text = [
    `directory   ${home}`,
    `custodian   ${custodian.kind}, a vote may take ${voteLimitSeconds} seconds`,
    `listens on  ${host}:${port}`,
    `policy      ${policyFile} (${policy.name}, sha256 ${sha256})`,
    `chains      ${chainsFile} (${chains.join(', ')})`,
    'The configuration can be used. "doctor" examines the custodian.',
  ].join('\n');
  return { document, text };
}
