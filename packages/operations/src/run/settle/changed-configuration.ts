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
  type Hex32,
  parseEvmAddress,
} from '@pool/core';
import { BlockedRunError, rethrowInterruption } from '@pool/idempotency/engine';
import type { SeededManifest } from '@pool/wallet';
import { decideSettlement } from '../batch/decide-settlement.ts';
import { describePaid, findForeign, judgeOther } from '../batch/foreign-settlement.ts';
import { loadRelease } from '../batch/release-record.ts';
import { isUnderNonce } from '../batch/settlement-request.ts';
import { describeCancelled, isCancelled } from '../job/cancellation.ts';
import { type Batch, planBatch } from '../job/plan-batch.ts';
import { deserializeManifest, manifestName } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import { withdrawRequests } from '../sign/withdraw-requests.ts';
import { concludeRun, finishReverted } from './conclude.ts';

export const configurationChanged = 'configuration_changed';

/** The stored manifest, if it was made with other settings. */
export async function findChangedManifest(run: Run): Promise<SeededManifest | undefined> {
  const text = await run.journal.getValue(manifestName);
  if (text === undefined) {
    return undefined;
  }
  const seeded = deserializeManifest(text);
  return listDifferences(run, seeded.manifest).length === 0 ? undefined : seeded;
}

/**
 * Ends the job if the chain shows the outcome of its batch.
 * @throws BlockedRunError if it does not, after the reason was stored
 */
export async function concludeChanged(run: Run, seeded: SeededManifest): Promise<void> {
  const { manifest } = seeded;
  let hasEnded = false;
  try {
    hasEnded = isReadable(run, manifest) && (await concludeFromChain(run, seeded));
  } catch (error) {
    // Chain or platform do not answer. The job waits, blocked for the same reason.
    rethrowInterruption(error);
  }
  if (!hasEnded) {
    await block(run, manifest);
  }
}

/** The current settings name the chain and the pool of the manifest. */
function isReadable({ context: { settings } }: Run, manifest: FundManifest): boolean {
  return settings.chainId === manifest.chainId && settings.pool === manifest.pool;
}

/** @returns whether the job has ended */
async function concludeFromChain(run: Run, seeded: SeededManifest): Promise<boolean> {
  const { manifest } = seeded;
  const funder = parseEvmAddress(manifest.funder);
  const batch = await planBatch(seeded, run.pace);
  const nonce = fieldToHex(batch.plan.batchNonce);
  const release = await loadRelease(run, batch);
  const row = await run.retry(() => run.deps.platform.getSettlement(run.record().key));
  const own = row !== undefined && isUnderNonce(row, funder, nonce) ? row : undefined;
  const state = await run.retry(() => run.context.chain.fetchNonceState(funder, nonce));
  const known = [release?.deadline, run.landing().latestDeadline, own?.batch.deadline];
  const deadlines = known.filter((deadline) => deadline !== undefined);
  const decision = decideSettlement({
    batchRoot: batch.batchRoot,
    deadline: deadlines.length === 0 ? undefined : Math.max(...deadlines),
    nonce: state,
  });
  if (decision.kind === 'settled') {
    await concludeRun(run, batch, decision);
    return true;
  }
  if (decision.kind === 'settled-elsewhere') {
    return fail(run, manifest, describePaid(decision.funded.txHash, manifest.chain, funder));
  }
  const other =
    row === undefined || own !== undefined ? undefined : await judgeOther(run, row, run.retry);
  const foreign = other ?? (await findForeign(run, run.retry));
  if (decision.kind === 'dead') {
    const { revert } = run.landing();
    const error = foreign ?? revert?.error ?? (await describeDead(run, decision.cause));
    return revert === undefined
      ? fail(run, manifest, error)
      : failReverted(run, batch, revert.txHash, error);
  }
  // No release record: nothing was signed. And neither chain nor platform has anything under this nonce.
  const isUnsigned = release === undefined && own === undefined && !state.pending;
  if (isUnsigned && foreign !== undefined) {
    return fail(run, manifest, foreign);
  }
  return isUnsigned && (await isCancelled(run)) ? fail(run, manifest, cancelledUnsigned) : false;
}

const cancelledUnsigned: ErrorBody = {
  code: 'cancelled',
  message:
    'the job was cancelled before anything of it was signed, and nothing was paid; to pay after all, use a new Idempotency-Key',
};

async function describeDead(run: Run, cause: 'expired' | 'voided'): Promise<ErrorBody> {
  return cause === 'voided' || (await isCancelled(run))
    ? { code: 'cancelled', message: describeCancelled(cause) }
    : {
        code: 'settlement_expired',
        message:
          'the settings were changed while the job was underway, its authorisation expired before it was settled, and nothing was paid; resubmit under a new Idempotency-Key',
      };
}

async function fail(run: Run, manifest: FundManifest, error: ErrorBody): Promise<true> {
  await withdrawRequests(run);
  await run.finish('failed', { error: withRemainder(run, manifest, error) });
  return true;
}

async function failReverted(
  run: Run,
  batch: Batch,
  txHash: Hex32,
  error: ErrorBody,
): Promise<true> {
  await finishReverted(run, batch, txHash, withRemainder(run, batch.manifest, error));
  return true;
}

/** The earlier funder gave the approvals of this job, or was asked for one. The current funder cannot take them back. */
function withRemainder(
  run: Run,
  { funder, token }: FundManifest,
  { code, message }: ErrorBody,
): ErrorBody {
  const { approvals, approvalRequest } = run.given();
  const given =
    approvals.length === 0
      ? ''
      : `; the approval that funder ${funder} gave for this batch may be left: set the allowance of the pool to 0 with its key`;
  const asked =
    approvalRequest === undefined
      ? ''
      : `; an approval of ${describeAmountOf(run.context.settings.tokens, token, BigInt(approvalRequest.value))} that funder ${funder} was asked for may still be given: deny the request at its signer, or set the allowance of the pool to 0 with its key afterwards`;
  return { code, message: `${message}${given}${asked}` };
}

async function block(run: Run, manifest: FundManifest): Promise<never> {
  const differences = listDifferences(run, manifest).join('; ');
  const error: ErrorBody = {
    code: configurationChanged,
    message: `this job began with other settings: ${differences}. Restore them and start the agent again, or start an agent with the earlier settings on this directory, to finish or cancel the job. Until then nothing is sent for it; do not pay it under a new Idempotency-Key`,
  };
  const blocked = { ...error, isCancelled: await isCancelled(run) };
  const known = run.record().blocked;
  if (known?.message !== blocked.message || known.isCancelled !== blocked.isCancelled) {
    await run.note({ blocked });
    await run.announce('configuration-changed');
  }
  throw new BlockedRunError(error);
}

function listDifferences(run: Run, manifest: FundManifest): readonly string[] {
  const { settings, key } = run.context;
  const differences: [string, string, string][] = [
    ['funder', manifest.funder, run.funder.address],
    [`pool of chain ${key}`, manifest.pool, settings.pool],
    [`token ${run.record().tokenSymbol}`, manifest.token, run.token],
    [`chain id of ${key}`, String(manifest.chainId), String(settings.chainId)],
  ];
  return differences
    .filter(([, then, now]) => then !== now)
    .map(([what, then, now]) => `the ${what} was ${then} and is ${now}`);
}
