/**
 * What a pay run needs of the agent.
 *
 * @module
 */
import {
  type DisbursementJob,
  type DisburseRequest,
  jobStages,
  type SkippedRecipient,
} from '@pool/core';
import * as v from 'valibot';

export type AgentClient = {
  submit(key: string, request: DisburseRequest): Promise<DisbursementJob>;
  job(key: string): Promise<DisbursementJob>;
  /** Undefined: the agent does not know the key. */
  find(key: string): Promise<DisbursementJob | undefined>;
  /** The agent's own dry run. */
  validate(request: DisburseRequest): Promise<CheckedRequest>;
  trace(key: string): Promise<JobTrace>;
  /** Cancels a job and returns it when it has ended. Retryable errors while that takes longer than one request. */
  cancel(key: string): Promise<DisbursementJob>;
};

/** The part of a validation report that commands read. */
export type CheckedRequest = {
  readonly ok: boolean;
  readonly issues: readonly {
    readonly requestIndex: number;
    readonly code: string;
    readonly message: string;
  }[];
  readonly preflight?:
    | readonly {
        readonly code: string;
        readonly message: string;
        readonly severity?: string | undefined;
      }[]
    | undefined;
  readonly skipped?: readonly SkippedRecipient[] | undefined;
};

const stageSchema = v.picklist(jobStages);

/**
 * What a terminal shows in addition to the job object: progress, seconds per stage, gas. The shape of the job object is
 * fixed and allows no further fields (docs/decisions/0007).
 */
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
