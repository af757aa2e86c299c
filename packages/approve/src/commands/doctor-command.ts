/**
 * `approve doctor`: proves that the gate cannot be gone around, compares the custodian's history with the ledger, and says what is wrong.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { type Ledger, openLedger, type Policy } from '@pool/policy';
import { parseGateConfig } from '../config/config.ts';
import { ledgerPath } from '../config/gate-home.ts';
import { readSettings } from '../config/settings-files.ts';
import {
  createDoctor,
  type DoctorCheck,
  type DoctorReport,
  failed,
  passed,
} from '../examine/doctor.ts';
import { createHistoryCheck } from '../examine/history.ts';
import { createHistoryExamination } from '../examine/history-examination.ts';
import { createExamination, createHistorySource } from '../gate/transport.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

/** @returns the exit code */
export async function runDoctor(context: CommandContext, options: CommonOptions): Promise<number> {
  const config = parseGateConfig(context.source, options.envFile);
  const { nowMs, streams } = context;
  const { loaded, chains } = readSettings(config);
  const policy = (): Policy => loaded.policy;
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
      const source = createHistorySource({ config, chains, policy, nowMs });
      const tell = (fields: object, message = ''): void =>
        streams.err(`${message}: ${JSON.stringify(fields)}`);
      const { examine } = createHistoryExamination({
        history: createHistoryCheck({ source, ledger, policy }),
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
    examinations: [examineHistory, createExamination({ config, policy, nowMs })],
    nowMs,
  });
  const report = await doctor.examine();
  print(context, options, report, renderReport(report));
  return report.ok ? exitCodes.ok : exitCodes.error;
}

function checkRestored(ledger: Ledger): DoctorCheck {
  const { isRestored, restoredBecause = 'unknown' } = ledger.status();
  return isRestored
    ? failed(
        'restored',
        `the ledger counts as restored (${restoredBecause}); run "pool-approve ledger rebaseline --by NAME"`,
      )
    : passed('restored', 'the ledger does not count as restored');
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
