/**
 * `approve doctor`: proves that the gate cannot be gone around, and says what is wrong.
 *
 * @module
 */
import { parseGateConfig } from '../config/config.ts';
import { createDoctor, type DoctorReport } from '../gate/doctor.ts';
import { readChainsFile, readPolicyFile } from '../gate/settings-files.ts';
import { createExamination } from '../gate/transport.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

/** @returns the exit code */
export async function runDoctor(context: CommandContext, options: CommonOptions): Promise<number> {
  const config = parseGateConfig(context.source, options.envFile);
  const { policy } = readPolicyFile(config.policyFile);
  readChainsFile(config.chainsFile);
  const examine = createExamination({ config, policy: () => policy, nowMs: context.nowMs });
  const doctor = createDoctor({ examinations: [examine], nowMs: context.nowMs });
  const report = await doctor.examine();
  print(context, options, report, renderReport(report));
  return report.ok ? exitCodes.ok : exitCodes.error;
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
