/**
 * `approve doctor`: proves that the gate cannot be gone around, compares the custodian's history with the ledger, and says what is wrong.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { type Ledger, openLedger, type Policy } from '@pool/policy';
import { parseGateConfig } from '../config/config.ts';
import { ledgerPath } from '../config/env-file.ts';
import { readSettings } from '../config/settings-files.ts';
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
