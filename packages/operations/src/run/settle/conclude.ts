/**
 * From an outcome on chain to the job's terminal state (protocol §8).
 *
 * @module
 */
import {
  assertNoFieldLeft,
  type DisbursementResult,
  type ErrorBody,
  fieldToHex,
  type Hex32,
  PoolError,
} from '@pool/core';
import { InterruptedRunError, rethrowInterruption } from '@pool/idempotency/engine';
import type { CheckedRecipient } from '../../check/checks.ts';
import type { FundedBatch } from '../../ports.ts';
import { computeJobNonce } from '../batch/batch.ts';
import type { Outcome } from '../batch/decide-settlement.ts';
import { findForeign, pickForeign, recordForeign } from '../batch/foreign-settlement.ts';
import { decideElsewhere } from '../batch/settled-elsewhere.ts';
import { describeCancelled, isCancelled } from '../job/cancellation.ts';
import type { Batch } from '../job/plan-batch.ts';
import type { DisbursementRecord } from '../job/record.ts';
import { createRetryEvent, type Run } from '../job/run.ts';
import { mayChangeAllowance } from '../sign/pending-approval.ts';
import { notTakenBack, withdrawAllowance } from '../sign/withdraw-allowance.ts';
import { withdrawRequests } from '../sign/withdraw-requests.ts';

/** Persists the terminal state of the job. */
export async function concludeRun(
  run: Run,
  batch: Batch | undefined,
  outcome: Outcome,
): Promise<void> {
  switch (outcome.kind) {
    case 'settled':
      return concludeSettled(run, outcome.funded, listNotes(run, batch));
    case 'settled-elsewhere':
      return concludeElsewhere(run, outcome.funded);
    case 'dead':
      return concludeDead(run, batch, outcome.cause);
  }
}

/** No on-chain effect: the job fails, and an approval given for it is taken back. */
export async function concludeFailed(run: Run, error: ErrorBody): Promise<void> {
  const remainder = await withdrawAllowance(run);
  const message = remainder === undefined ? error.message : `${error.message}; ${remainder}`;
  await withdrawRequests(run);
  await run.finish('failed', { error: { code: error.code, message } });
}

async function concludeSettled(
  run: Run,
  funded: FundedBatch,
  notes: readonly RecipientNote[],
  earlier?: string,
): Promise<void> {
  const wasAsked = run.given().approvalRequest !== undefined;
  await withdrawRequests(run);
  const isLeft = wasAsked && mayChangeAllowance(run);
  const remainder = earlier ?? (isLeft ? notTakenBack : undefined);
  const receipt = await run.context.chain.fetchReceipt(funded.txHash).catch(() => undefined);
  await recordPaidKeys(run);
  await run.finish('completed', {
    ...(remainder === undefined ? {} : { remainder }),
    result: createResult(run.record(), { txHash: funded.txHash, notes }),
    settlement: {
      txHash: funded.txHash,
      blockNumber: funded.blockNumber,
      ...(receipt === undefined ? {} : { gasUsed: receipt.gasUsed.toString() }),
    },
  });
}

/** For a warning at the next payment. A file that cannot be written must not keep a paid job from ending. */
async function recordPaidKeys(run: Run): Promise<void> {
  const { clock, paidKeys, onEvent } = run.deps;
  try {
    await paidKeys.record(run.record().recipients, clock.nowMs());
  } catch {
    onEvent({ kind: 'retry', stage: run.record().stage, code: 'paid_keys_not_recorded' });
  }
}

async function concludeElsewhere(run: Run, funded: FundedBatch): Promise<void> {
  const { platform } = run.deps;
  const { key, employerId, recipients, requestDigest } = run.record();
  // Both answers are needed to know what was paid. Waiting is safe, because the money has moved.
  const row = await askUntilAnswered(run, () => platform.getSettlement(key));
  const transferred = await askUntilAnswered(run, () => fetchPaid(run, funded));
  const verdict = decideElsewhere({
    row,
    fingerprint: run.deps.fingerprints.compute(key, requestDigest),
    funded,
    batchNonce: computeJobNonce(run, employerId, key),
    recipients,
    token: run.token,
    funder: run.funder.address,
    total: run.total,
    transferred,
  });
  if (verdict.kind === 'same-payment') {
    // The approval of this job was not used: the other payment had its own.
    const remainder = await withdrawAllowance(run);
    return concludeSettled(run, funded, pairWithRecipients(run, verdict.commitments), remainder);
  }
  await concludeFailed(run, {
    code: 'settled_elsewhere',
    message: `this Idempotency-Key was already paid by transaction ${funded.txHash}, but the payment could not be matched to this request (${verdict.reason}); do not resubmit`,
  });
}

/**
 * What the other payment took from the funder, in this token. The batchId on chain binds the funder, so something has
 * moved. An RPC that shows no transfer contradicts itself, and the job waits.
 */
async function fetchPaid(run: Run, funded: FundedBatch): Promise<bigint> {
  const { amount, anyToken } = await run.context.chain.fetchTransferred(
    funded.txHash,
    run.token,
    run.funder.address,
  );
  if (!anyToken) {
    throw new PoolError(
      'chain_unreachable',
      'the RPC says that this key is paid, but its transaction shows no transfer from the funder; waiting for another answer',
    );
  }
  return amount;
}

/** Ends the job `done` with a `partial` result: its transaction reverted, and its batch can no longer land. */
export async function finishReverted(
  run: Run,
  batch: Batch | undefined,
  txHash: Hex32,
  error: ErrorBody,
): Promise<void> {
  const notes = listNotes(run, batch);
  await withdrawRequests(run);
  await run.finish('reverted', { result: createResult(run.record(), { txHash, notes, error }) });
}

async function concludeDead(
  run: Run,
  batch: Batch | undefined,
  cause: 'expired' | 'voided',
): Promise<void> {
  const foreign = await askForeign(run);
  const { revert, lastRefusal, eligibilityLoss } = run.landing();
  if (revert !== undefined) {
    const error = foreign ?? revert.error;
    const remainder = await withdrawAllowance(run);
    const message = remainder === undefined ? error.message : `${error.message}; ${remainder}`;
    return finishReverted(run, batch, revert.txHash, { code: error.code, message });
  }
  if (foreign !== undefined) {
    return concludeFailed(run, foreign);
  }
  const phase = run.phase();
  if (phase.kind === 'abandoned' && phase.cause.code !== 'cancelled') {
    return concludeFailed(run, phase.cause);
  }
  if (cause === 'voided' || (await isCancelled(run))) {
    return concludeFailed(run, { code: 'cancelled', message: describeCancelled(cause) });
  }
  if (eligibilityLoss !== undefined) {
    return concludeFailed(run, eligibilityLoss);
  }
  const why = lastRefusal === undefined ? '' : ` (last refusal: ${lastRefusal.code})`;
  await concludeFailed(run, {
    code: 'settlement_expired',
    message: `the authorisation expired before it was settled, and nothing was paid${why}; resubmit under a new Idempotency-Key`,
  });
}

/**
 * A dead authorisation of this job does not rule out a settlement of its key on other terms. The platform must report what
 * it has before the job reports that nothing was paid.
 */
async function askForeign(run: Run): Promise<ErrorBody | undefined> {
  const { key } = run.record();
  const row = await askUntilAnswered(run, () => run.deps.platform.getSettlement(key));
  const foreign = row === undefined ? undefined : pickForeign(run, row);
  if (foreign !== undefined) {
    await recordForeign(run, foreign);
  }
  return findForeign(run, run.retry);
}

/** Asks again until it gets an answer. Only interruptions end it. */
async function askUntilAnswered<T>(run: Run, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run.retry(work);
    } catch (error) {
      rethrowInterruption(error);
      run.deps.onEvent(createRetryEvent(run.record().stage, error));
      await run.pause(Math.max(run.deps.pollMs, 1_000));
      if (run.signal.aborted) {
        throw error;
      }
    }
  }
}

/** A recipient of the record and the commitment of its note. */
type RecipientNote = {
  readonly recipient: CheckedRecipient;
  readonly commitment: Hex32;
};

/**
 * The notes of this job's own batch, in the order of `record.recipients`.
 * @throws InterruptedRunError see {@link pairWithRecipients}
 */
function listNotes(run: Run, batch: Batch | undefined): readonly RecipientNote[] {
  const commitments: Hex32[] = [];
  for (const { recipientIndex, commitment } of batch?.plan.slots ?? []) {
    if (recipientIndex !== undefined) {
      commitments[recipientIndex] = fieldToHex(commitment);
    }
  }
  return pairWithRecipients(run, commitments);
}

/**
 * @param commitments - by place in `record.recipients`
 * @throws InterruptedRunError when a recipient has none: the record and the stored manifest contradict each other. The
 *   batch may be paid, so the job must not fail, and no result can be true for that recipient. The job stays as it is.
 */
function pairWithRecipients(
  run: Run,
  commitments: readonly (Hex32 | undefined)[],
): readonly RecipientNote[] {
  return run.record().recipients.map((recipient, index) => {
    const commitment = commitments[index];
    if (commitment === undefined) {
      throw new InterruptedRunError(
        `recipient ${index} of the job has no note in its batch: the job store contradicts itself; restore it from a backup`,
      );
    }
    return { recipient, commitment };
  });
}

function createResult(
  record: DisbursementRecord,
  settled: {
    readonly txHash: Hex32;
    readonly notes: readonly RecipientNote[];
    /** Present: the transaction reverted and nothing was paid. */
    readonly error?: ErrorBody;
  },
): DisbursementResult {
  const { txHash, notes, error } = settled;
  const status = error === undefined ? 'success' : 'failed';
  return {
    status: error === undefined ? 'completed' : 'partial',
    batches: [
      {
        index: 0,
        txHash,
        recipientCount: record.recipients.length,
        status,
        ...(error === undefined ? {} : { error: { ...error } }),
      },
    ],
    notes: notes.map(({ recipient, commitment }) => createNote(recipient, commitment, status)),
    skipped: [...record.skipped],
    allowance: { state: record.allowanceState ?? 'unknown' },
    ...(error === undefined ? {} : { failedBatchIndex: 0 }),
  };
}

function createNote(
  recipient: CheckedRecipient,
  commitment: Hex32,
  status: DisbursementResult['notes'][number]['status'],
): DisbursementResult['notes'][number] {
  const { requestIndex, address, amount, memo, walletPub, encryptionPublicKey, evidence, ...rest } =
    recipient;
  assertNoFieldLeft(rest);
  return { requestIndex, recipientAddress: address, commitment, amount, status };
}
