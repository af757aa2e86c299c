/**
 * From what became of the key to the job's terminal state (protocol §8).
 *
 * @module
 */
import {
  type DisbursementResult,
  describeAmountOf,
  type ErrorBody,
  type FundManifest,
  fieldToHex,
  type Hex32,
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import { InterruptedRunError, rethrowInterruption } from '@pool/idempotency/engine';
import type { SeededManifest } from '@pool/wallet';
import type { FundedBatch } from '../../ports.ts';
import { listDifferences, loadDated } from '../batch/batch.ts';
import {
  describePaid,
  findForeign,
  type Outcome,
  readPaidCommitments,
  readUse,
  recordForeign,
  settledElsewhere,
} from '../batch/decide-settlement.ts';
import { hasLeft } from '../job/phases.ts';
import { type Batch, planBatch } from '../job/record.ts';
import type { DisbursementDeps, OpenDisbursement, Run, RunBase, RunInput } from '../job/run.ts';
import { notTakenBack, withdrawAllowance } from '../sign/allowance.ts';
import { mayBeSigned } from '../sign/ask-signer.ts';
import { logEnd } from '../sign/await-release.ts';
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
async function describeCancelled(
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
  await logEnd(run, run.deps, { txHash });
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
async function finishUnpaid(
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
  await logEnd(run, run.deps, error);
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

// A job whose manifest was made with settings that the agent no longer has (docs/decisions/0007). Nothing is sent for it
// under the new settings: its funder, pool and nonce are those of the manifest. It ends when the chain shows the outcome of
// that batch. Until then its `blocked` error names the differences.

const configurationChanged = 'configuration_changed';

/** @returns why the settings do not have what the job needs, if they do not */
export function resolveBase(
  { record: { chain, tokenSymbol } }: RunInput,
  { findChain, funder }: DisbursementDeps,
): RunBase | PoolError {
  const context = findChain(chain);
  const tokenSettings = context?.settings.tokens[tokenSymbol];
  if (context === undefined) {
    return new PoolError('invalid-chain', `chain ${chain} is not routable any more`);
  }
  if (funder === undefined) {
    return new PoolError('invalid-chain', 'no funder signer is configured for this chain');
  }
  return tokenSettings === undefined
    ? new PoolError('invalid-token', `token ${tokenSymbol} is no longer configured for this chain`)
    : { context, funder, token: tokenSettings.address, tokenSettings };
}

/**
 * The settings no longer have what the job needs. The job fails if this store released nothing of it and the platform has
 * no settlement under its key, neither of another agent nor of this one before its store was restored. Otherwise it waits
 * for the settings.
 */
export async function failUnroutable(
  { record, phase, getValue, finish, block }: OpenDisbursement,
  deps: DisbursementDeps,
  { code, message }: PoolError,
): Promise<void> {
  const mayBeOut =
    hasLeft(phase) ||
    mayBeSigned(phase) ||
    ('approvals' in phase && phase.approvals.length > 0) ||
    (await deps.platform.getSettlement(record.key).catch(() => 'unknown')) !== undefined;
  if (!mayBeOut) {
    await logEnd({ record, getValue }, deps, { code, message });
  }
  await (mayBeOut
    ? block(
        {
          code: configurationChanged,
          message: `this job may be underway, and the settings no longer cover it: ${message}. Restore them and start the agent again to finish or cancel the job. Until then nothing is sent for it; do not pay it under a new Idempotency-Key`,
        },
        'configuration-changed',
      )
    : finish('failed', { error: { code, message } }));
}

/**
 * Ends the job if the chain shows the outcome of its batch.
 * @throws BlockedRunError if it does not, after the reason was stored
 */
export async function concludeChanged(run: Run, seeded: SeededManifest): Promise<void> {
  const { chainId, pool } = run.context.settings;
  const { manifest } = seeded;
  if (chainId === manifest.chainId && pool === manifest.pool) {
    const batch = await planBatch(seeded, run.pace);
    // Chain or platform may not answer. The job waits then, blocked for the same reason.
    const ending = await findEnding(run, batch).catch(rethrowInterruption);
    if (ending?.kind === 'settled') {
      return conclude(run, ending, batch);
    }
    if (ending?.kind === 'unpaid') {
      return finishUnpaid(run, ending, describeRemainder(run, manifest), batch);
    }
  }
  const differences = listDifferences(run, manifest).join('; ');
  const message = `this job began with other settings: ${differences}. Restore them and start the agent again, or start an agent with the earlier settings on this directory, to finish or cancel the job. Until then nothing is sent for it; do not pay it under a new Idempotency-Key`;
  await run.block({ code: configurationChanged, message }, 'configuration-changed');
}

/** @returns undefined: neither chain nor platform shows what became of the batch */
async function findEnding(run: Run, batch: Batch): Promise<Ending | undefined> {
  const { latestDeadline, revert } = run.landing;
  const release = await loadDated(run, batch);
  const funder = parseEvmAddress(batch.manifest.funder);
  const { decision, nonce, own, other } = await readUse(run, {
    funder,
    batchNonce: fieldToHex(batch.plan.batchNonce),
    batchRoot: batch.batchRoot,
    deadlines: [release?.deadline, latestDeadline],
  });
  switch (decision.kind) {
    case 'settled':
      return decision;
    case 'settled-elsewhere': {
      const { txHash } = decision.funded;
      return { kind: 'unpaid', error: describePaid(txHash, batch.manifest.chain, funder) };
    }
    case 'dead': {
      const error =
        other ?? revert?.error ?? (await describeCancelled(run, decision.cause)) ?? expired;
      return { kind: 'unpaid', error, revertedBy: revert?.txHash };
    }
    case 'wait': {
      // Without a release record nothing was signed. Then neither chain nor platform may have anything under this nonce.
      const mayLand = release !== undefined || own !== undefined || nonce.pending;
      const isCancelled = await run.isCancelled();
      const error = other ?? (isCancelled ? cancelledUnsigned : undefined);
      return mayLand || error === undefined ? undefined : { kind: 'unpaid', error };
    }
  }
}

const expired: ErrorBody = {
  code: 'settlement_expired',
  message:
    'the settings were changed while the job was underway, its authorisation expired before it was settled, and nothing was paid; resubmit under a new Idempotency-Key',
};

const cancelledUnsigned: ErrorBody = {
  code: 'cancelled',
  message:
    'the job was cancelled before anything of it was signed, and nothing was paid; to pay after all, use a new Idempotency-Key',
};

/** The earlier funder gave the approvals of this job, or was asked for one. The current funder cannot take them back. */
function describeRemainder(
  { given: { approvals, approvalRequest }, context: { settings } }: Run,
  { funder, token }: FundManifest,
): string | undefined {
  const given =
    approvals.length > 0 &&
    `the approval that funder ${funder} gave for this batch may be left: set the allowance of the pool to 0 with its key`;
  const asked =
    approvalRequest !== undefined &&
    `an approval of ${describeAmountOf(settings.tokens, token, BigInt(approvalRequest.value))} that funder ${funder} was asked for may still be given: deny the request at its signer, or set the allowance of the pool to 0 with its key afterwards`;
  const texts = [given, asked].filter((text) => text !== false);
  return texts.length === 0 ? undefined : texts.join('; ');
}
