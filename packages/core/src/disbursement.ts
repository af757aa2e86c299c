/**
 * The disbursement request, job and result.
 *
 * @module
 */
import * as v from 'valibot';
import { PoolError } from './errors.ts';
import { describeIssues, parseWire } from './schema.ts';

/** Longest memo of a note, in UTF-8 bytes. */
export const maxMemoBytes = 111;

const memoSchema = v.pipe(v.string(), v.maxBytes(maxMemoBytes));

const recipientSchema = v.strictObject({
  recipientAddress: v.string(),
  amount: v.string(),
  memo: v.optional(memoSchema),
});

/**
 * The body's shape alone. What the strings say has codes of its own (`invalid-chain`, `invalid-token`,
 * `batch-too-large`, `invalid-amount`, `invalid-address`) and is judged afterwards, in the order of
 * docs/decisions/0009; so no bound of length stands here, the routes limit the body as a whole.
 */
export const disburseRequestSchema = v.strictObject({
  token: v.string(),
  chain: v.optional(v.string()),
  recipients: v.pipe(v.array(recipientSchema), v.minLength(1)),
  unregistered: v.optional(v.picklist(['fail', 'skip'])),
});

export type DisburseRequest = v.InferOutput<typeof disburseRequestSchema>;

const envelopeSchema = v.strictObject({
  ...disburseRequestSchema.entries,
  recipients: v.pipe(v.array(v.unknown()), v.minLength(1)),
});

/** Recipients between two stops, and problems after which the rest of a list is not read. */
const recipientsPerStep = 64;
const maxProblems = 3;

/**
 * Reads a request by {@link disburseRequestSchema}, with a stop every so often: a body holds 100,000 recipients,
 * and who reads it also serves others.
 * @throws PoolError `invalid_request`, with path and kind of the first problems and no value
 */
export function* stepDisburseRequest(
  body: unknown,
): Generator<undefined, DisburseRequest, undefined> {
  const envelope = parseWire(envelopeSchema, body, 'the request body');
  const recipients: DisburseRequest['recipients'] = [];
  const problems: string[] = [];
  for (const [index, entry] of envelope.recipients.entries()) {
    const read = v.safeParse(recipientSchema, entry);
    if (!read.success) {
      problems.push(describeIssues(read.issues, ['recipients', String(index)]));
    } else if (read.output.memo?.isWellFormed() === false) {
      // Half a character has no UTF-8 form: the payee would read something else than was written.
      problems.push(`recipients.${index}.memo: half a character`);
    } else {
      recipients.push(read.output);
    }
    if (problems.length === maxProblems) {
      break;
    }
    if (index % recipientsPerStep === recipientsPerStep - 1) {
      yield;
    }
  }
  if (problems.length > 0) {
    throw new PoolError(
      'invalid_request',
      `the request body is malformed: ${problems.join('; ')}${problems.length === maxProblems ? '; and maybe more' : ''}`,
    );
  }
  return { ...envelope, recipients };
}

const allowanceStateSchema = v.picklist(['sufficient', 'insufficient', 'unknown']);
export type AllowanceState = v.InferOutput<typeof allowanceStateSchema>;

/** Names of the steps a job passes through while `submitted`, in order. */
export const jobStages = [
  'eligibility',
  'allowance',
  'proving',
  'awaiting-turn',
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

/** What can be wrong with a request whose shape is right. A job may fail with further codes. */
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
