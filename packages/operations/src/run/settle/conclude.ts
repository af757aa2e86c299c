/**
 * From what became of the key to the job's terminal state (protocol §8).
 *
 * @module
 */
import {
  type DisbursementResult,
  type ErrorBody,
  fieldToHex,
  type Hex32,
  PoolError,
} from '@pool/core';
import { InterruptedRunError } from '@pool/idempotency/engine';
import type { FundedBatch } from '../../ports.ts';
import {
  findForeign,
  type Outcome,
  readPaidCommitments,
  recordForeign,
  settledElsewhere,
} from '../batch/decide-settlement.ts';
import type { Batch } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import { notTakenBack, withdrawAllowance } from '../sign/allowance.ts';
import { withdrawRequests } from '../sign/give-up.ts';

/** Nothing of the job is or will be on chain. */
type Unpaid = {
  readonly kind: 'unpaid';
  readonly error: ErrorBody;
  /** A transaction with its batch that reverted. */
  readonly revertedBy?: Hex32 | undefined;
};

/** What became of a key. */
export type Ending = Outcome | Unpaid;

type Paid = {
  readonly kind: 'paid';
  readonly funded: FundedBatch;
  /** By place in `record.recipients`. */
  readonly commitments: readonly (Hex32 | undefined)[];
};

/** Persists the terminal state of the job. @param batch - of the job, if one is stored */
export async function conclude(run: Run, ending: Ending, batch = run.batch): Promise<void> {
  const end = await explain(run, ending, batch);
  // Only the batch of the job uses its approval: a payment by another agent had its own.
  const remainder = ending.kind === 'settled' ? undefined : await withdrawAllowance(run);
  await (end.kind === 'paid' ? finishPaid(run, end, remainder) : finishUnpaid(run, end, remainder));
}

async function explain(run: Run, ending: Ending, batch: Batch | undefined): Promise<Paid | Unpaid> {
  switch (ending.kind) {
    case 'unpaid':
      return ending;
    case 'settled':
      return { kind: 'paid', funded: ending.funded, commitments: listCommitments(batch) };
    case 'settled-elsewhere':
      return matchPayment(run, ending.funded);
    case 'dead':
      return explainDead(run, ending.cause);
  }
}

/** Both answers are needed to know what was paid. Waiting is safe, because the money has moved. */
async function matchPayment(run: Run, funded: FundedBatch): Promise<Paid | Unpaid> {
  const row = await run.insist(() => run.platform.getSettlement(run.record.key));
  const transferred = await run.insist(() => fetchPaid(run, funded.txHash));
  const commitments = readPaidCommitments(run, row, funded, transferred);
  return typeof commitments === 'string'
    ? {
        kind: 'unpaid',
        error: {
          code: settledElsewhere,
          message: `this Idempotency-Key was already paid by transaction ${funded.txHash}, but the payment could not be matched to this request (${commitments}); do not resubmit`,
        },
      }
    : { kind: 'paid', funded, commitments };
}

/**
 * What the other payment took from the funder, in this token. The batchId on chain binds the funder, so something has
 * moved. An RPC that shows no transfer contradicts itself, and the job waits.
 */
async function fetchPaid({ chain, token, funder }: Run, txHash: Hex32): Promise<bigint> {
  const { amount, anyToken } = await chain.fetchTransferred(txHash, token, funder.address);
  if (!anyToken) {
    throw new PoolError(
      'chain_unreachable',
      'the RPC says that this key is paid, but its transaction shows no transfer from the funder; waiting for another answer',
    );
  }
  return amount;
}

async function explainDead(run: Run, cause: 'expired' | 'voided'): Promise<Unpaid> {
  // A dead authorisation of this job does not rule out a settlement of its key on other terms. The platform must report what
  // it has before the job reports that nothing was paid.
  const row = await run.insist(() => run.platform.getSettlement(run.record.key));
  if (row !== undefined) {
    await recordForeign(run, row);
  }
  const { phase, landing } = run;
  const { revert, lastRefusal, eligibilityLoss } = landing;
  const given = phase.kind === 'abandoned' && phase.cause.code !== 'cancelled';
  const why = lastRefusal === undefined ? '' : ` (last refusal: ${lastRefusal.code})`;
  const error = (await findForeign(run, run.retry)) ??
    revert?.error ??
    (given ? phase.cause : undefined) ??
    (await describeCancelled(run, cause)) ??
    eligibilityLoss ?? {
      code: 'settlement_expired',
      message: `the authorisation expired before it was settled, and nothing was paid${why}; resubmit under a new Idempotency-Key`,
    };
  return { kind: 'unpaid', error, revertedBy: revert?.txHash };
}

/** Undefined: the authorisation expired, and nobody asked for that. */
export async function describeCancelled(
  run: Run,
  cause: 'expired' | 'voided',
): Promise<ErrorBody | undefined> {
  const how =
    cause === 'voided'
      ? 'the funder withdrew its authorisation'
      : 'its authorisation expired before it was settled';
  return cause === 'voided' || (await run.isCancelled())
    ? {
        code: 'cancelled',
        message: `the job was cancelled: ${how}, and nothing was paid; to pay after all, use a new Idempotency-Key`,
      }
    : undefined;
}

/** @param earlier - what is left of an allowance, if it is known */
async function finishPaid(
  run: Run,
  { funded: { txHash, blockNumber }, commitments }: Paid,
  earlier: string | undefined,
): Promise<void> {
  const { clock, paidKeys, onEvent } = run.deps;
  const result = createResult(run, txHash, commitments);
  const wasAsked = run.given.approvalRequest !== undefined;
  await withdrawRequests(run);
  const remainder = earlier ?? (wasAsked && run.mayChangeAllowance ? notTakenBack : undefined);
  const receipt = await run.context.chain.fetchReceipt(txHash).catch(() => undefined);
  try {
    // For a warning at the next payment. A file that cannot be written must not keep a paid job from ending.
    await paidKeys.record(run.record.recipients, clock.nowMs());
  } catch {
    onEvent({ kind: 'retry', stage: run.record.stage, code: 'paid_keys_not_recorded' });
  }
  const gas = receipt === undefined ? {} : { gasUsed: receipt.gasUsed.toString() };
  await run.finish('completed', {
    ...(remainder === undefined ? {} : { remainder }),
    result,
    settlement: { txHash, blockNumber, ...gas },
  });
}

/**
 * Ends the job `failed`, or `done` with a `partial` result where a transaction with its batch reverted.
 * @param remainder - the text for the user when an allowance is left or may be left
 */
export async function finishUnpaid(
  run: Run,
  { error: { code, message }, revertedBy }: Omit<Unpaid, 'kind'>,
  remainder: string | undefined,
  batch = run.batch,
): Promise<void> {
  const error = { code, message: remainder === undefined ? message : `${message}; ${remainder}` };
  const result =
    revertedBy === undefined
      ? undefined
      : createResult(run, revertedBy, listCommitments(batch), error);
  await withdrawRequests(run);
  await (result === undefined
    ? run.finish('failed', { error })
    : run.finish('reverted', { result }));
}

/** The notes of this job's own batch, by place in the record. */
function listCommitments(batch: Batch | undefined): readonly (Hex32 | undefined)[] {
  const commitments: Hex32[] = [];
  for (const { recipientIndex, commitment } of batch?.plan.slots ?? []) {
    if (recipientIndex !== undefined) {
      commitments[recipientIndex] = fieldToHex(commitment);
    }
  }
  return commitments;
}

/**
 * @param commitments - by place in `record.recipients`
 * @param error - present: the transaction reverted and nothing was paid
 * @throws InterruptedRunError when a recipient has none: the record and the stored manifest contradict each other. The
 *   batch may be paid, so the job must not fail, and no result can be true for that recipient. The job stays as it is.
 */
function createResult(
  { record: { recipients, skipped, allowanceState } }: Run,
  txHash: Hex32,
  commitments: readonly (Hex32 | undefined)[],
  error?: ErrorBody,
): DisbursementResult {
  const status = error === undefined ? 'success' : 'failed';
  const batch = { index: 0, txHash, recipientCount: recipients.length, status } as const;
  return {
    status: error === undefined ? 'completed' : 'partial',
    batches: [error === undefined ? batch : { ...batch, error: { ...error } }],
    notes: recipients.map(({ requestIndex, address, amount }, index) => {
      const commitment = commitments[index];
      if (commitment === undefined) {
        throw new InterruptedRunError(
          `recipient ${index} of the job has no note in its batch: the job store contradicts itself; restore it from a backup`,
        );
      }
      return { requestIndex, recipientAddress: address, commitment, amount, status };
    }),
    skipped: [...skipped],
    allowance: { state: allowanceState ?? 'unknown' },
    ...(error === undefined ? {} : { failedBatchIndex: 0 }),
  };
}
