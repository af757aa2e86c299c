/**
 * The disbursement request, job and result.
 *
 * @module
 */
import * as v from 'valibot';
import { findMemoProblem, maxMemoBytes } from '../text/memo.ts';
import { describeIssues } from './describe-issues.ts';
import { described, optional, parseWire } from './schema.ts';

const memoSchema = described(
  v.pipe(v.string(), v.maxBytes(maxMemoBytes)),
  'One line of text, at most 111 bytes of UTF-8, without control characters and characters that change the ' +
    'direction of text. It is sealed into the note: only the recipient reads it.',
);

const recipientSchema = v.strictObject({
  recipientAddress: described(
    v.string(),
    'Recipient’s wallet address in the format of the chain’s family. The wallet must be enrolled and eligible.',
  ),
  amount: described(
    v.string(),
    'Amount to pay: whole number of the token’s base units in decimal, 1 to 2^128-1, without sign, point or leading ' +
      'zero. The sum of all amounts has the same bound.',
  ),
  memo: v.optional(memoSchema),
});

/**
 * The body's shape alone. The content of the strings has codes of its own (`invalid-chain`, `invalid-token`,
 * `batch-too-large`, `invalid-amount`, `invalid-address`) and is checked afterwards, in the order of
 * docs/decisions/0007. So the strings have no length bounds here; the routes limit the body as a whole.
 */
export const disburseRequestSchema = described(
  v.strictObject({
    token: described(
      v.string(),
      'Symbol of a token configured for the chain, for example `USDC`. Never an address.',
    ),
    chain: optional(
      v.string(),
      'Key of the chain to pay on, for example `base`. Default: the agent’s configured chain.',
    ),
    recipients: described(
      v.pipe(v.array(recipientSchema), v.minLength(1)),
      'One entry per recipient. No address appears twice. The chain’s `maxRecipients` limits how many; a longer list is ' +
        'refused and never split.',
    ),
    unregistered: optional(
      v.picklist(['fail', 'skip']),
      'What happens with a recipient who cannot be paid: `fail` (default) refuses the whole call, `skip` leaves the recipient ' +
        'out and lists it in `skipped`.',
    ),
  }),
  'A batch of recipients to pay in one token on one chain. Confidential.',
);

export type DisburseRequest = v.InferOutput<typeof disburseRequestSchema>;

/** One recipient of a request. `amount` is in base units. */
export type RequestedRecipient = DisburseRequest['recipients'][number];

const envelopeSchema = v.strictObject({
  ...disburseRequestSchema.entries,
  recipients: v.pipe(v.array(v.unknown()), v.minLength(1)),
});

/** The memo is checked separately: a schema cannot express its rules, and its message says what is wrong. */
const recipientFormSchema = v.strictObject({
  ...recipientSchema.entries,
  memo: v.optional(v.string()),
});

/** A recipient as it was sent. A field that is missing or not a string is undefined. */
export type ReadRecipient = {
  readonly [Field in keyof Required<RequestedRecipient>]: string | undefined;
};

/** A body whose own fields are well-formed. Single recipients may be malformed. */
export type ReadRequest = Omit<DisburseRequest, 'recipients'> & {
  /** All of them, in the order of the request. */
  readonly recipients: readonly ReadRecipient[];
  /** False: at least one recipient is malformed, so the body is not a {@link DisburseRequest}. */
  readonly isWellFormed: boolean;
};

/** What is wrong with the form of one recipient. The message repeats no value of the request. */
export type MalformedRecipient = { readonly requestIndex: number; readonly message: string };

/** Recipients read between two yields. */
const recipientsPerStep = 64;

/**
 * Reads a request by {@link disburseRequestSchema} and yields every few recipients: a body can hold 100,000 of them, and the
 * process that reads it serves other callers too. Yields each malformed recipient and continues after it, so one bad memo
 * does not hide other problems.
 * @throws PoolError `invalid_request` for a body whose own fields are wrong
 */
export function* stepRequest(
  body: unknown,
): Generator<MalformedRecipient | undefined, ReadRequest, undefined> {
  const envelope = parseWire(envelopeSchema, body, 'the request body');
  const recipients: ReadRecipient[] = [];
  let isWellFormed = true;
  for (const [requestIndex, entry] of envelope.recipients.entries()) {
    const read = v.safeParse(recipientFormSchema, entry);
    const { memo } = read.success ? read.output : {};
    const problem = read.success
      ? describeMemo(requestIndex, memo)
      : describeIssues(read.issues, ['recipients', requestIndex]);
    if (problem !== undefined) {
      isWellFormed = false;
      yield { requestIndex, message: `the request body is malformed: ${problem}` };
    }
    recipients.push(pickStrings(entry));
    if (requestIndex % recipientsPerStep === recipientsPerStep - 1) {
      yield;
    }
  }
  return { ...envelope, recipients, isWellFormed };
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

export const allowanceStateSchema = v.picklist(['sufficient', 'insufficient', 'unknown']);
export type AllowanceState = v.InferOutput<typeof allowanceStateSchema>;

/** Names of the steps a job passes through while `submitted`, in order. */
export const jobStages = [
  'eligibility',
  'allowance',
  'proving',
  'awaiting-release',
  'awaiting-approval',
  'awaiting-turn',
  'signing',
  'approving-allowance',
  'settling',
  'awaiting-finality',
  'settlement-refused',
  'cancelling',
  'configuration-changed',
] as const;
export type JobStage = (typeof jobStages)[number];

export type JobState = 'accepted' | 'submitted' | 'done' | 'failed';

const errorBodySchema = v.strictObject({
  code: described(
    v.string(),
    'Stable code for programs; docs/errors.md lists the codes and what to do about each.',
  ),
  message: described(
    v.string(),
    'Explanation for people. Its wording may change; it contains no secret and no value of the request.',
  ),
});

const requestIndexSchema = described(
  v.number(),
  'Position of the recipient in `recipients` of the request, from 0.',
);
const paidAddressSchema = described(
  v.string(),
  'The recipient’s wallet address as the request spelled it.',
);

export const disbursementResultSchema = described(
  v.strictObject({
    status: described(
      v.picklist(['completed', 'partial']),
      '`completed`: a final block holds the batch, and every recipient in `notes` is paid. `partial`: a transaction was ' +
        'mined and reverted, and nobody was paid.',
    ),
    batches: described(
      v.array(
        v.strictObject({
          index: described(v.number(), 'Position of the batch in the job. Always 0.'),
          txHash: described(
            v.string(),
            'Hash of the transaction that settled the batch, or of the one that reverted: 0x and 64 hex digits.',
          ),
          recipientCount: described(
            v.number(),
            'Number of recipients in the batch. Skipped recipients are not counted.',
          ),
          status: described(
            v.picklist(['success', 'failed']),
            '`success`: the transaction settled the batch. `failed`: it reverted; see `error`.',
          ),
          error: optional(
            errorBodySchema,
            'Why the transaction reverted. Present only when `status` is `failed`.',
          ),
        }),
      ),
      'The batches of the job. A job settles exactly one.',
    ),
    notes: described(
      v.array(
        v.strictObject({
          requestIndex: requestIndexSchema,
          recipientAddress: paidAddressSchema,
          commitment: described(
            v.string(),
            'Hash of the recipient’s note, the only part of it on chain: a field element as 32 bytes of 0x hex. Public; ' +
              'it reveals neither amount nor recipient.',
          ),
          amount: described(
            v.string(),
            'Amount in the note: base units in decimal, as in the request.',
          ),
          status: described(
            v.picklist(['success', 'failed']),
            '`success`: the note is on chain. `failed`: it is not, because the transaction reverted.',
          ),
        }),
      ),
      'One entry per recipient of the batch, in the order of the request. Confidential.',
    ),
    skipped: described(
      v.array(
        v.strictObject({
          requestIndex: requestIndexSchema,
          recipientAddress: paidAddressSchema,
          ...errorBodySchema.entries,
        }),
      ),
      'Recipients left out under `unregistered: skip`, each with its reason. Empty when none was.',
    ),
    allowance: described(
      v.strictObject({
        state: described(
          allowanceStateSchema,
          'Whether the token’s allowance for the pool covered the total at that time. `unknown`: the chain could not be ' +
            'read, which does not prevent the payment.',
        ),
      }),
      'The allowance as the agent read it before proving, never recomputed. The agent grants a missing allowance itself.',
    ),
    failedBatchIndex: optional(
      v.number(),
      'Reserved for jobs of several batches. No agent of this version sends it.',
    ),
  }),
  'Outcome of the settlement attempt of a `done` job.',
);

export type DisbursementResult = v.InferOutput<typeof disbursementResultSchema>;

const statusUrlSchema = described(
  v.string(),
  'Path at which this agent answers the job, relative to its own address: `/api/disburse/<key>`.',
);

/** A job, as one of four shapes that `state` distinguishes. @param statusUrl - required where a job is submitted */
function createJobSchema<
  const Place extends typeof statusUrlSchema | v.OptionalSchema<typeof statusUrlSchema, undefined>,
>(statusUrl: Place) {
  const common = {
    key: described(v.string(), 'Idempotency-Key of the job, without quotes.'),
    statusUrl,
  };
  return v.variant('state', [
    v.strictObject({
      ...common,
      state: described(v.literal('accepted'), 'The job is queued. Keep polling.'),
    }),
    v.strictObject({
      ...common,
      state: described(v.literal('submitted'), 'The job is under way. Keep polling.'),
      stage: optional(
        v.picklist(jobStages),
        'The step that is under way. `awaiting-approval`: people or a policy vote on a signature of the funder, which can take ' +
          'hours.',
      ),
    }),
    v.strictObject({
      ...common,
      state: described(v.literal('done'), 'Final. An attempt was made on chain; see `result`.'),
      result: described(disbursementResultSchema, 'Outcome of the attempt on chain.'),
    }),
    v.strictObject({
      ...common,
      state: described(v.literal('failed'), 'Final. Nothing happened on chain; see `error`.'),
      error: described(
        errorBodySchema,
        'Why the job failed and what to correct before you pay under a new key.',
      ),
    }),
  ]);
}

/** The job as answered by `GET /api/disburse/:key`. */
export const disbursementJobSchema = described(
  createJobSchema(v.optional(statusUrlSchema)),
  'The durable record behind one Idempotency-Key. Confidential once it has a result.',
);

/** The job as its submission answers it. */
export const submittedJobSchema = described(
  createJobSchema(statusUrlSchema),
  'The job of the Idempotency-Key, as its submission answers it.',
);

/** A shape of a job, in which the fields of the other shapes are absent. */
type WithAbsentFields<Shape> = Shape extends unknown
  ? Shape & { readonly [Field in Exclude<'stage' | 'result' | 'error', keyof Shape>]?: undefined }
  : never;

export type DisbursementJob = WithAbsentFields<v.InferOutput<typeof disbursementJobSchema>>;

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
