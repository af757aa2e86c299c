/**
 * Takes back what still waits for a vote when a job ends, so that nobody is asked for a vote that has no effect. Nothing depends on it:
 * the chain, or the answer of the signer, has decided the job before. A withdrawal on chain is needed until then, so it is taken back
 * here and nowhere else.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { FunderRequest } from '../../ports.ts';
import { type DatedBatch, loadDated } from '../batch/release-record.ts';
import type { RecordedVote } from '../job/phases.ts';
import type { Run } from '../job/run.ts';
import { createAuthorizationRequest, markEnded, withdrawRequest } from './ask-signer.ts';
import { createApprovalRequest, takeBackRequest } from './give-approval.ts';
import { createPermitRequest, findPermitDomain } from './grant-allowance.ts';
import { mayChangeAllowance, parseRequestedApproval } from './pending-approval.ts';
import { createVoidRequest } from './void-batch.ts';

/**
 * Tries once for each request. A failure is reported and not thrown. Called when the outcome of the job is known, and ends its turn:
 * a custodian that hangs, or a request that may still be on its way to it, can take a minute.
 */
export async function withdrawRequests(run: Run): Promise<void> {
  if (!mayChangeAllowance(run)) {
    run.approvalHold.end();
    run.hold.end();
  }
  for (const vote of run.given().votes) {
    if (mayWait(run, vote)) {
      await withdraw(run, vote);
    }
  }
}

/** True unless its answer is stored. */
function mayWait(run: Run, { kind, hasEnded, permitNonce }: RecordedVote): boolean {
  const { signature, permit, approvalRequest } = run.given();
  if (hasEnded === true) {
    return false;
  }
  switch (kind) {
    case 'fund-authorization':
      return signature === undefined;
    case 'void':
      return run.landing().voidSignature === undefined;
    case 'permit':
      return permit === undefined || (permitNonce ?? permit.nonce) !== permit.nonce;
    case 'token-approval':
      // Any earlier one was given, or was taken back before the next one was asked for.
      return approvalRequest !== undefined;
  }
}

async function withdraw(run: Run, vote: RecordedVote): Promise<void> {
  const { id, kind } = vote;
  let code: string | undefined;
  function note(error: unknown): void {
    code = errorCodeOf(error) ?? 'internal_error';
  }
  try {
    const batch = await loadDated(run);
    const request = batch === undefined ? undefined : rebuild(run, batch, vote);
    const isSame = request !== undefined && run.funder.identify(request) === id;
    if (kind === 'token-approval' && !isSame) {
      return;
    }
    if (batch === undefined || request === undefined || !isSame) {
      code = 'job_unreadable';
    } else if (!(await takeBack(run, batch, request, note))) {
      code ??= 'awaiting-approval';
    }
  } catch (error) {
    rethrowInterruption(error);
    note(error);
  }
  if (code !== undefined) {
    run.deps.onEvent({ kind: 'not-withdrawn', request: kind, code });
  } else if (run.given().votes.find((one) => one.id === id)?.hasEnded === true) {
    run.deps.onEvent({ kind: 'withdrawn', request: kind });
  }
}

/** The request as it was asked for. Undefined: the record does not have all of it. */
function rebuild(
  run: Run,
  batch: DatedBatch,
  { kind, permitNonce }: RecordedVote,
): FunderRequest | undefined {
  const { approvalRequest } = run.given();
  switch (kind) {
    case 'fund-authorization':
      return createAuthorizationRequest(batch);
    case 'void':
      return createVoidRequest(run, batch);
    case 'permit': {
      const domain = findPermitDomain(run);
      return domain === undefined || permitNonce === undefined
        ? undefined
        : createPermitRequest(run, batch, domain, BigInt(permitNonce));
    }
    case 'token-approval':
      return approvalRequest === undefined
        ? undefined
        : createApprovalRequest(run, batch, parseRequestedApproval(approvalRequest));
  }
}

/** @returns false: it may still wait */
async function takeBack(
  run: Run,
  batch: DatedBatch,
  request: FunderRequest,
  onOutage: (error: unknown) => void,
): Promise<boolean> {
  if (request.kind === 'token-approval') {
    return takeBackRequest(run, batch, onOutage);
  }
  const answer = await withdrawRequest(run, request, onOutage);
  if (answer === 'none' || answer === 'unknown') {
    return answer === 'none';
  }
  if (answer.state === 'ended') {
    await markEnded(run, request);
  }
  return answer.state !== 'waiting';
}
