/**
 * The disbursement request, job and result (SERVICE "Disbursement request", "Disbursement job",
 * "Validation report").
 *
 * @module
 */
import * as v from 'valibot';
import { addressTextSchema } from './schema.ts';

/** Longest memo of a note, in UTF-8 bytes. */
export const maxMemoBytes = 111;

/** Most recipients a request body may list at all; a chain's own maximum is smaller. */
export const maxRequestRecipients = 10_000;

const memoSchema = v.pipe(v.string(), v.maxBytes(maxMemoBytes));

/**
 * Amounts and addresses are free strings here: their defects have codes of their own (`invalid-amount`,
 * `invalid-address`) and are judged after the body's shape, in the order of docs/decisions.
 */
export const disburseRequestSchema = v.strictObject({
  token: v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
  chain: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
  recipients: v.pipe(
    v.array(
      v.strictObject({
        recipientAddress: addressTextSchema,
        amount: v.pipe(v.string(), v.maxLength(80)),
        memo: v.optional(memoSchema),
      }),
    ),
    v.minLength(1),
    v.maxLength(maxRequestRecipients),
  ),
  unregistered: v.optional(v.picklist(['fail', 'skip'])),
});

export type DisburseRequest = v.InferOutput<typeof disburseRequestSchema>;

const allowanceStateSchema = v.picklist(['sufficient', 'insufficient', 'unknown']);
export type AllowanceState = v.InferOutput<typeof allowanceStateSchema>;

/** Names of the steps a job passes through while `submitted`, in order. */
export const jobStages = [
  'eligibility',
  'allowance',
  'proving',
  'signing',
  'approving-allowance',
  'settling',
] as const;
export type JobStage = (typeof jobStages)[number];

export type JobState = 'accepted' | 'submitted' | 'done' | 'failed';

const errorBodySchema = v.strictObject({ code: v.string(), message: v.string() });

export const disbursementResultSchema = v.strictObject({
  status: v.picklist(['completed', 'partial']),
  batches: v.array(
    v.strictObject({
      index: v.number(),
      txHash: v.string(),
      recipientCount: v.number(),
      status: v.picklist(['success', 'failed']),
      error: v.optional(errorBodySchema),
    }),
  ),
  notes: v.array(
    v.strictObject({
      requestIndex: v.number(),
      recipientAddress: v.string(),
      commitment: v.string(),
      amount: v.string(),
      status: v.picklist(['success', 'failed']),
    }),
  ),
  skipped: v.array(
    v.strictObject({
      requestIndex: v.number(),
      recipientAddress: v.string(),
      code: v.string(),
      message: v.string(),
    }),
  ),
  allowance: v.strictObject({ state: allowanceStateSchema }),
  failedBatchIndex: v.optional(v.number()),
});

export type DisbursementResult = v.InferOutput<typeof disbursementResultSchema>;

/** The job as answered by `GET /api/disburse/:key`. */
export const disbursementJobSchema = v.strictObject({
  key: v.string(),
  state: v.picklist(['accepted', 'submitted', 'done', 'failed']),
  statusUrl: v.optional(v.string()),
  stage: v.optional(v.picklist(jobStages)),
  result: v.optional(disbursementResultSchema),
  error: v.optional(errorBodySchema),
});

export type DisbursementJob = v.InferOutput<typeof disbursementJobSchema>;

/** The disbursement error codes of SERVICE "Agent disbursement errors". */
export const disbursementErrorCodes = [
  'invalid-chain',
  'invalid-token',
  'batch-too-large',
  'invalid-amount',
  'invalid-address',
  'duplicate-recipient',
  'unregistered-recipient',
] as const;
export type DisbursementErrorCode = (typeof disbursementErrorCodes)[number];

/** A recipient left out under `unregistered: skip`. */
export type SkippedRecipient = DisbursementResult['skipped'][number];
