/**
 * The gate itself: `pool-approve`, `disburse-agent approve`.
 *
 * @module
 */
import { parseGateConfig } from '../config/config.ts';
import { createGateLog } from '../config/gate-log.ts';
import { runGate } from '../gate/run-gate.ts';
import type { CommandContext } from './output.ts';

/** Resolves when the gate was stopped. */
export async function runServe(
  options: { readonly dryRun?: boolean; readonly standby?: boolean; readonly envFile?: string },
  { source, streams, nowMs }: CommandContext,
): Promise<void> {
  const config = parseGateConfig(source, options.envFile);
  const log = createGateLog(config.logLevel);
  const { dryRun: isDryRun = false, standby: isStandby = false } = options;
  const note = isDryRun ? ', and votes nothing (dry run)' : '';
  await runGate({ config, log, isDryRun, isStandby, nowMs }, (url) =>
    streams.out(`pool-approve listens on ${url}${note}`),
  );
}
