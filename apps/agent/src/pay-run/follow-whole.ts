/**
 * Follows the job of a roster that was paid in one call, and reports it. Ctrl-C ends the watch and not the payment, so the
 * command then says how to continue.
 *
 * @module
 */

import type { RosterEntry } from '../roster/roster-csv.ts';
import type { AgentClient } from '../services/agent-client.ts';
import { type Output, withInterruption } from '../terminal/command-output.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { type FollowOptions, followJob } from './follow-job.ts';
import { createJobDocument, describeJob, exitCodeOfJob } from './job-report.ts';
import type { WholeOutcome } from './pay-whole.ts';
import { repeatLine } from './split-report.ts';

export type FollowWholeOptions = Pick<FollowOptions, 'pollMs'> & { readonly json?: boolean };

/** @returns the exit code */
export async function followWhole(
  client: Pick<AgentClient, 'job' | 'trace'>,
  first: WholeOutcome,
  entries: readonly RosterEntry[],
  { json, pollMs }: FollowWholeOptions,
  { out, terminal }: Output,
): Promise<number> {
  const { job, trace } = await withInterruption((signal) =>
    followJob(client, first.job, terminal, { signal, pollMs }),
  );
  if (trace === undefined) {
    terminal.write(
      `interrupted: the agent continues this payment. Run the same command again to follow it, or "disburse-agent cancel ${job.key}" to stop it\n`,
    );
    return exitCodes.interrupted;
  }
  out(
    json === true
      ? JSON.stringify(
          { isRepeat: first.isRepeat, ...createJobDocument(job, trace, entries) },
          null,
          2,
        )
      : [
          ...(first.isRepeat ? [repeatLine] : []),
          describeJob(job, trace, entries, terminal.isTty),
        ].join('\n'),
  );
  return exitCodeOfJob(job);
}
