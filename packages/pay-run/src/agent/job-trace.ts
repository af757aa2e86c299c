/**
 * The trace of a job, from its record.
 *
 * @module
 */
import { type JobStage, jobStages } from '@pool/core';
import type { DisbursementRecord, Progress } from '@pool/operations';
import type { JobTrace } from '../ports.ts';

export function createJobTrace(
  record: DisbursementRecord,
  progress: Progress | undefined,
  prover: JobTrace['prover'],
  nowMs: number,
): JobTrace {
  const { allowanceState, blocked, phase, stageSeconds } = record;
  const refusal = blocked ?? ('refusal' in phase ? phase.refusal : undefined);
  const outage = 'outage' in phase ? phase.outage : undefined;
  const { remainder, settlement } =
    phase.kind === 'completed' ? phase : { remainder: undefined, settlement: undefined };
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
    // Changed settings come first: while they block the job, nothing is sent that could be refused.
    ...(refusal === undefined ? {} : { refusal: { code: refusal.code, message: refusal.message } }),
    ...(outage === undefined ? {} : { outage }),
    ...(remainder === undefined ? {} : { remainder }),
    ...(settlement === undefined ? {} : { settlement }),
  };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
