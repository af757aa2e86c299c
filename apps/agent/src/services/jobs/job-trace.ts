/**
 * The trace of a job, from its record.
 *
 * @module
 */
import { type JobStage, jobStages } from '@pool/core';
import type { DisbursementRecord } from '@pool/operations';
import type { JobTrace } from '@pool/pay-run';
import type { Progress } from './job-progress.ts';

export function createJobTrace(
  record: DisbursementRecord,
  progress: Progress | undefined,
  prover: JobTrace['prover'],
  nowMs: number,
): JobTrace {
  const { allowanceState, outage, remainder, settlement, stageSeconds } = record;
  const hasEnded = record.result !== undefined || record.error !== undefined;
  const refusal = hasEnded ? undefined : pickReason(record);
  const timings = jobStages.flatMap((stage: JobStage) => {
    const seconds = stageSeconds[stage];
    return seconds === undefined ? [] : [{ stage, seconds: round(seconds) }];
  });
  return {
    ...(progress === undefined
      ? {}
      : {
          progress: {
            stage: progress.stage,
            ...(progress.fraction === undefined ? {} : { fraction: progress.fraction }),
            seconds: round((nowMs - progress.sinceMs) / 1000),
          },
        }),
    timings,
    prover,
    ...(allowanceState === undefined ? {} : { allowance: allowanceState }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(hasEnded || outage === undefined ? {} : { outage }),
    ...(remainder === undefined ? {} : { remainder }),
    ...(settlement === undefined ? {} : { settlement }),
  };
}

/** Changed settings come first: while they block the job, nothing is sent that could be refused. */
function pickReason({ blocked, refusal }: DisbursementRecord): JobTrace['refusal'] {
  return blocked === undefined ? refusal : { code: blocked.code, message: blocked.message };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
