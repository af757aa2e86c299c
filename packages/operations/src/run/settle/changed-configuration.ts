/**
 * A job whose manifest was made with settings that the agent no longer has (docs/decisions/0007). Nothing is sent for it
 * under the new settings: its funder, pool and nonce are those of the manifest. It ends when the chain shows the outcome of
 * that batch. Until then its `blocked` error names the differences.
 *
 * @module
 */
import {
  describeAmountOf,
  type ErrorBody,
  type FundManifest,
  fieldToHex,
  parseEvmAddress,
} from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { SeededManifest } from '@pool/wallet';
import { listDifferences, loadRelease } from '../batch/batch.ts';
import { decideSettlement } from '../batch/decide-settlement.ts';
import { describePaid, findForeign, isUnderNonce, judgeRow } from '../batch/foreign-settlement.ts';
import { deserializeManifest, manifestName, planBatch } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import { conclude, describeCancelled, finishUnpaid } from './conclude.ts';

export const configurationChanged = 'configuration_changed';

/** The stored manifest, if it was made with other settings. */
export async function findChangedManifest(run: Run): Promise<SeededManifest | undefined> {
  const text = await run.getValue(manifestName);
  const seeded = text === undefined ? undefined : deserializeManifest(text);
  const isChanged = seeded !== undefined && listDifferences(run, seeded.manifest).length > 0;
  return isChanged ? seeded : undefined;
}

/**
 * Ends the job if the chain shows the outcome of its batch.
 * @throws BlockedRunError if it does not, after the reason was stored
 */
export async function concludeChanged(run: Run, seeded: SeededManifest): Promise<void> {
  const { settings } = run.context;
  const { manifest } = seeded;
  try {
    const isReadable = settings.chainId === manifest.chainId && settings.pool === manifest.pool;
    if (isReadable && (await concludeFromChain(run, seeded))) {
      return;
    }
  } catch (error) {
    // Chain or platform do not answer. The job waits, blocked for the same reason.
    rethrowInterruption(error);
  }
  const differences = listDifferences(run, manifest).join('; ');
  const error: ErrorBody = {
    code: configurationChanged,
    message: `this job began with other settings: ${differences}. Restore them and start the agent again, or start an agent with the earlier settings on this directory, to finish or cancel the job. Until then nothing is sent for it; do not pay it under a new Idempotency-Key`,
  };
  return run.block(error, 'configuration-changed');
}

/** @returns whether the job has ended */
async function concludeFromChain(run: Run, seeded: SeededManifest): Promise<boolean> {
  const { manifest } = seeded;
  const funder = parseEvmAddress(manifest.funder);
  const batch = await planBatch(seeded, run.pace);
  const nonce = fieldToHex(batch.plan.batchNonce);
  const release = await loadRelease(run, batch);
  const row = await run.platform.getSettlement(run.record.key);
  const own = row !== undefined && isUnderNonce(row, funder, nonce) ? row : undefined;
  const state = await run.chain.fetchNonceState(funder, nonce);
  const { latestDeadline, revert } = run.landing;
  const known = [release?.deadline, latestDeadline, own?.batch.deadline];
  const deadlines = known.filter((deadline) => deadline !== undefined);
  const decision = decideSettlement({
    batchRoot: batch.batchRoot,
    deadline: deadlines.length === 0 ? undefined : Math.max(...deadlines),
    nonce: state,
  });

  async function fail(error: ErrorBody): Promise<true> {
    const txHash = decision.kind === 'dead' ? revert?.txHash : undefined;
    await finishUnpaid(run, withRemainder(run, manifest, error), txHash, batch);
    return true;
  }

  if (decision.kind === 'settled') {
    await conclude(run, decision, batch);
    return true;
  }
  if (decision.kind === 'settled-elsewhere') {
    return fail(describePaid(decision.funded.txHash, manifest.chain, funder));
  }
  const other = row === undefined || own !== undefined ? undefined : await judgeRow(run, row);
  const foreign = other ?? (await findForeign(run, run.retry));
  if (decision.kind === 'dead') {
    const error = foreign ?? revert?.error ?? (await describeCancelled(run, decision.cause));
    return fail(error ?? expired);
  }
  // No release record: nothing was signed. And neither chain nor platform has anything under this nonce.
  if (release !== undefined || own !== undefined || state.pending) {
    return false;
  }
  const unpaid = foreign ?? ((await run.isCancelled()) ? cancelledUnsigned : undefined);
  return unpaid !== undefined && fail(unpaid);
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
function withRemainder(
  { given: { approvals, approvalRequest }, context: { settings } }: Run,
  { funder, token }: FundManifest,
  { code, message }: ErrorBody,
): ErrorBody {
  const given =
    approvals.length === 0
      ? ''
      : `; the approval that funder ${funder} gave for this batch may be left: set the allowance of the pool to 0 with its key`;
  const asked =
    approvalRequest === undefined
      ? ''
      : `; an approval of ${describeAmountOf(settings.tokens, token, BigInt(approvalRequest.value))} that funder ${funder} was asked for may still be given: deny the request at its signer, or set the allowance of the pool to 0 with its key afterwards`;
  return { code, message: `${message}${given}${asked}` };
}
