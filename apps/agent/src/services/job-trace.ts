/**
 * What a terminal shows in addition to the job object: progress, seconds per stage, gas. The shape of the job object is
 * fixed and allows no further fields (docs/decisions/0007).
 *
 * @module
 */
import { type JobStage, jobStages } from '@pool/core';
import type { DisbursementRecord } from '@pool/operations';
import * as v from 'valibot';
import type { Progress } from './job-progress.ts';

const stageSchema = v.picklist(jobStages);

export const jobTraceSchema = v.strictObject({
  progress: v.optional(
    v.strictObject({
      stage: stageSchema,
      fraction: v.optional(v.number()),
      seconds: v.number(),
    }),
  ),
  /** Seconds of work per stage, in order, summed over all runs of the job. */
  timings: v.array(v.strictObject({ stage: stageSchema, seconds: v.number() })),
  /** The device on which this agent proves. */
  prover: v.strictObject({ kind: v.string(), detail: v.string() }),
  /** As observed before proving. */
  allowance: v.optional(v.picklist(['sufficient', 'insufficient', 'unknown'])),
  /** Why the job waits: the platform does not send its batch, or it began under other settings of this agent. */
  refusal: v.optional(v.strictObject({ code: v.string(), message: v.string() })),
  /** Why the signer, or the approve process beside it, cannot decide now. A job that waits for people has none. */
  outage: v.optional(v.strictObject({ code: v.string(), message: v.string() })),
  /** Advice about an allowance that may be left. The error of a failed job contains it. */
  remainder: v.optional(v.string()),
  settlement: v.optional(
    v.strictObject({
      txHash: v.string(),
      blockNumber: v.number(),
      gasUsed: v.optional(v.string()),
    }),
  ),
});
export type JobTrace = v.InferOutput<typeof jobTraceSchema>;

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
