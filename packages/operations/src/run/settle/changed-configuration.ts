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
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { SeededManifest } from '@pool/wallet';
import { listDifferences, loadDated } from '../batch/batch.ts';
import { describePaid, findForeign, readUse } from '../batch/decide-settlement.ts';
import { hasLeft } from '../job/phases.ts';
import { type Batch, planBatch } from '../job/record.ts';
import type { DisbursementDeps, OpenDisbursement, Run, RunBase, RunInput } from '../job/run.ts';
import { mayBeSigned } from '../sign/ask-signer.ts';
import { conclude, describeCancelled, type Ending, finishUnpaid } from './conclude.ts';

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
  { record: { key }, phase, finish, block }: OpenDisbursement,
  { platform }: DisbursementDeps,
  { code, message }: PoolError,
): Promise<void> {
  const mayBeOut =
    hasLeft(phase) ||
    mayBeSigned(phase) ||
    ('approvals' in phase && phase.approvals.length > 0) ||
    (await platform.getSettlement(key).catch(() => 'unknown')) !== undefined;
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
        other ??
        (await findForeign(run, run.retry)) ??
        revert?.error ??
        (await describeCancelled(run, decision.cause)) ??
        expired;
      return { kind: 'unpaid', error, revertedBy: revert?.txHash };
    }
    case 'wait': {
      // Without a release record nothing was signed. Then neither chain nor platform may have anything under this nonce.
      const mayLand = release !== undefined || own !== undefined || nonce.pending;
      const foreign = mayLand ? undefined : (other ?? (await findForeign(run, run.retry)));
      const isCancelled = !mayLand && (await run.isCancelled());
      const error = foreign ?? (isCancelled ? cancelledUnsigned : undefined);
      return error === undefined ? undefined : { kind: 'unpaid', error };
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
