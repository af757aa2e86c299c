/**
 * From a released spend to an outcome that the chain has finalised (protocol §8, "Late landing"). Only {@link decideSpend} can end a
 * spend here. Until then the same authorisation may land, whatever platform, gate and relayer answer, and it may be sent again. A spend
 * whose deadline is too far ahead for the platform is not sent again: it would move money hours later, when nobody expects it.
 *
 * @module
 */

import { type ErrorBody, type ErrorDetails, isPoolError, zeroWord } from '@pool/core';
import { createPacer, passPoint, rethrowInterruption, toErrorBody } from '@pool/idempotency/engine';
import { type ArchivedSpend, changeSpendState } from '../archive/spend-archive.ts';
import { findGivenUp } from '../archive/spend-state.ts';
import { parseStoredSignature } from './authorize-spend.ts';
import {
  createGivenUpError,
  decideSpend,
  findRevert,
  readEnd,
  type SpendDecision,
  storeEnd,
} from './conclude-spend.ts';
import { type PlannedSpend, planArchived } from './plan-spend.ts';
import { createSubmission, proveSpend } from './prove-spend.ts';
import { computePlatformKey, fetchNow, reportRetry, type SpendDeps } from './spend-deps.ts';
import type { SpendContext, SpendRow, SpendSubmission } from './spend-ports.ts';

/** What the chain says about a spend now. */
export async function readDecision(
  { chain }: SpendContext,
  spend: ArchivedSpend,
): Promise<SpendDecision & { readonly isUsed: boolean }> {
  const { outRoot, deadline, inputNullifiers } = spend;
  const nullifiers = await chain.fetchNullifierState(inputNullifiers);
  return { ...decideSpend({ outRoot, deadline, nullifiers }), isUsed: nullifiers.pending };
}

/**
 * @param ready - what this process has just proved and not sent yet
 * @returns the spend with the outcome that the chain decided
 * @throws when the agent stops, when the archive does not answer, and when the spend is not sent again; it can still land then
 */
export async function watchSpend(
  context: SpendContext,
  released: ArchivedSpend,
  deps: SpendDeps,
  ready?: SpendSubmission,
): Promise<ArchivedSpend> {
  const { clock, signal, pollMs } = deps;
  const platform = deps.platform[released.operation];
  const platformKey = computePlatformKey(released);
  let spend = released;
  let submission = ready;
  let lastRefusal = findGivenUp(released.state);
  const resending = createPacer(clock, pollMs);
  deps.onEvent({ kind: 'stage', stage: 'settling' });

  /** Keeps an error of the outside world from ending the watch. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      rethrowInterruption(error);
      signal.throwIfAborted();
      reportRetry(deps, error);
      return undefined;
    }
  }

  async function post(sent: SpendSubmission): Promise<void> {
    resending.markTried();
    await attempt(async () => {
      try {
        recordRefusal(await platform.postSpend(platformKey, sent));
      } catch (error) {
        rethrowInterruption(error);
        if (isPoolError(error) && !error.retryable) {
          refuse(toErrorBody(error), error.details);
        }
        throw error;
      }
    });
    await giveUpIfTooFar();
    await passPoint(deps.onFaultPoint, 'spend.posted');
  }

  /** Stored before the caller hears of it: a call with the same key must not send the spend later. */
  async function giveUpIfTooFar(): Promise<void> {
    if (lastRefusal?.code !== 'deadline_too_far') {
      return;
    }
    const { code, message } = lastRefusal;
    spend = await changeSpendState(deps.archive, spend.outRoot, (state) =>
      state.kind === 'released' ? { ...state, givenUp: { code, message } } : undefined,
    );
  }

  function recordRefusal({ state, error }: SpendRow): void {
    if (state === 'reverted') {
      refuse(error ?? { code: 'reverted', message: 'the relayer gives no reason' });
    }
  }

  function refuse(error: ErrorBody, details?: ErrorDetails): void {
    if (lastRefusal?.code !== error.code) {
      const { code, message } = error;
      deps.onEvent({
        ...{ kind: 'refused', code, message },
        ...(details === undefined ? {} : { details }),
      });
    }
    lastRefusal = error;
  }

  /** A revert is stored when it is seen: a later post may replace the row. */
  async function recordRevert(row: SpendRow): Promise<void> {
    const { state } = spend;
    if ('revert' in state || (state.kind !== 'released' && state.kind !== 'recovered')) {
      return;
    }
    const revert = await findRevert(context, spend, row);
    if (revert !== undefined) {
      spend = await changeSpendState(deps.archive, spend.outRoot, (current) =>
        current.kind === 'released' || current.kind === 'recovered'
          ? { ...current, revert }
          : undefined,
      );
    }
  }

  /** Sends the same authorisation again, with a proof whose roots are valid now. */
  async function resend(): Promise<void> {
    const isCurrent =
      submission !== undefined &&
      (submission.spend.eligibilityRoot === zeroWord ||
        (await context.chain.isEligibilityRootAccepted(submission.spend.eligibilityRoot)));
    if (!isCurrent) {
      submission = await proveReleased(context, spend, deps);
    }
    if (submission !== undefined) {
      await post(submission);
    }
  }

  async function isTimeLeft(): Promise<boolean> {
    return (await fetchNow(deps, context)) <= spend.deadline;
  }

  if (submission !== undefined) {
    await post(submission);
  }
  for (;;) {
    const decision = await attempt(() => readDecision(context, spend));
    if (decision !== undefined && decision.kind !== 'wait') {
      const ended = await attempt(() => readEnd(context, spend, decision, deps, lastRefusal));
      if (ended !== undefined) {
        return storeEnd(spend, ended, deps);
      }
      // Decided, so it is not sent again. Only the reading is repeated.
      await clock.sleep(pollMs, signal);
      continue;
    }
    if (findGivenUp(spend.state) !== undefined && decision?.isUsed !== true) {
      throw createGivenUpError(spend, lastRefusal);
    }
    const answer = await attempt(async () => ({ row: await platform.getSpend(platformKey) }));
    const row = answer?.row;
    if (row !== undefined) {
      recordRefusal(row);
      await attempt(() => recordRevert(row));
    }
    const isOut = answer === undefined || (row !== undefined && row.state !== 'reverted');
    const mayResend = !isOut && decision?.isUsed === false && resending.isDue();
    if (mayResend && (await attempt(isTimeLeft)) === true) {
      await attempt(resend);
    }
    await clock.sleep(pollMs, signal);
  }
}

/** A fresh proof under the stored signature. Undefined: this archive does not have the signature. */
async function proveReleased(
  context: SpendContext,
  spend: ArchivedSpend,
  deps: SpendDeps,
): Promise<SpendSubmission | undefined> {
  if (spend.state.kind !== 'released') {
    return undefined;
  }
  const signature = parseStoredSignature(spend.state.signature);
  const planned: PlannedSpend = planArchived(spend, deps);
  const proved = await proveSpend(context, planned, signature.rSig, deps);
  return createSubmission(planned, signature, proved);
}
