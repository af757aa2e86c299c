/**
 * The disbursement request, job and result.
 *
 * @module
 */
import * as v from 'valibot';
import { describeIssues } from './describe-issues.ts';
import { findMemoProblem, maxMemoBytes } from './memo.ts';
import { parseWire } from './schema.ts';

const memoSchema = v.pipe(v.string(), v.maxBytes(maxMemoBytes));

const recipientSchema = v.strictObject({
  recipientAddress: v.string(),
  amount: v.string(),
  memo: v.optional(memoSchema),
});

/**
 * The body's shape alone. What the strings say has codes of its own (`invalid-chain`, `invalid-token`,
 * `batch-too-large`, `invalid-amount`, `invalid-address`) and is judged afterwards, in the order of
 * docs/decisions/0009, §1. The fields have no length limits here; the routes limit the body as a whole.
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

/** Its memo is judged apart: by more than a schema can say, and with a message that tells what is wrong with it. */
const recipientFormSchema = v.strictObject({
  ...recipientSchema.entries,
  memo: v.optional(v.string()),
});

/** A recipient as it was sent. A field that is no string, or is missing, is undefined. */
export type ReadRecipient = {
  readonly recipientAddress: string | undefined;
  readonly amount: string | undefined;
  readonly memo: string | undefined;
};

/** A body whose own fields are right. Single recipients may be malformed. */
export type ReadRequest = Omit<DisburseRequest, 'recipients'> & {
  /** All of them, in the order of the request. */
  readonly recipients: readonly ReadRecipient[];
  /** Undefined: a recipient is malformed. */
  readonly request: DisburseRequest | undefined;
};

/** What is wrong with the form of one recipient. The message repeats nothing that was sent. */
export type MalformedRecipient = { readonly requestIndex: number; readonly message: string };

/** Recipients between two stops. */
const recipientsPerStep = 64;

/**
 * Reads a request by {@link disburseRequestSchema}, with a stop every so often: a body holds 100,000 recipients,
 * and who reads it also serves others. Yields each malformed recipient and goes on behind it, so that one bad memo hides
 * nothing else.
 * @throws PoolError `invalid_request` for a body whose own fields are wrong
 */
export function* stepRequest(
  body: unknown,
): Generator<MalformedRecipient | undefined, ReadRequest, undefined> {
  const envelope = parseWire(envelopeSchema, body, 'the request body');
  const recipients: ReadRecipient[] = [];
  const wellFormed: DisburseRequest['recipients'] = [];
  for (const [requestIndex, entry] of envelope.recipients.entries()) {
    const read = v.safeParse(recipientFormSchema, entry);
    const { memo } = read.success ? read.output : {};
    const problem = read.success
      ? describeMemo(requestIndex, memo)
      : describeIssues(read.issues, ['recipients', requestIndex]);
    if (problem !== undefined) {
      yield { requestIndex, message: `the request body is malformed: ${problem}` };
    }
    if (read.success && problem === undefined) {
      wellFormed.push(read.output);
    }
    recipients.push(pickStrings(entry));
    if (requestIndex % recipientsPerStep === recipientsPerStep - 1) {
      yield;
    }
  }
  const request =
    wellFormed.length === recipients.length ? { ...envelope, recipients: wellFormed } : undefined;
  return { ...envelope, recipients, request };
}

function describeMemo(requestIndex: number, memo: string | undefined): string | undefined {
  const problem = memo === undefined ? undefined : findMemoProblem(memo);
  return problem === undefined ? undefined : `recipients[${requestIndex}].memo ${problem}`;
}

function pickStrings(entry: unknown): ReadRecipient {
  const fields: Readonly<Record<string, unknown>> =
    typeof entry === 'object' && entry !== null ? { ...entry } : {};
  const pick = (name: string): string | undefined => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return {
    recipientAddress: pick('recipientAddress'),
    amount: pick('amount'),
    memo: pick('memo'),
  };
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
  'settlement-refused',
  'cancelling',
  'configuration-changed',
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
