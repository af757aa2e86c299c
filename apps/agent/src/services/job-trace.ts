/**
 * What a terminal shows beside the job object, whose shape is fixed and takes no extra fields:
 * progress, seconds per stage, gas (docs/decisions/0006, §10).
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
  /** Seconds of work per stage, in order; over all runs of the job. */
  timings: v.array(v.strictObject({ stage: stageSchema, seconds: v.number() })),
  /** What this agent proves with. */
  prover: v.strictObject({ kind: v.string(), detail: v.string() }),
  /** As seen before proving. */
  allowance: v.optional(v.picklist(['sufficient', 'insufficient', 'unknown'])),
  /** Why the job waits: the platform has nothing of its batch out, or the settings of this agent do not fit it. */
  refusal: v.optional(v.strictObject({ code: v.string(), message: v.string() })),
  /** An allowance that may be left, and what to do about it. A job that failed says it in its error. */
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
  const { allowanceState, remainder, settlement, stageSeconds } = record;
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
    ...(remainder === undefined ? {} : { remainder }),
    ...(settlement === undefined ? {} : { settlement }),
  };
}

/** Settings that do not fit come first: while they do not, nothing is sent that could be refused. */
function pickReason({ blocked, refusal }: DisbursementRecord): JobTrace['refusal'] {
  return blocked === undefined || blocked === null
    ? (refusal ?? undefined)
    : { code: blocked.code, message: blocked.message };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
