/**
 * Submits a roster that is paid in one call, under the protection of its label (docs/decisions/0008).
 *
 * @module
 */
import type { DisbursementJob } from '@pool/core';
import { askFirst } from '../check/ask-first.ts';
import { createRequest } from '../check/check-parts.ts';
import type { ApprovePayment } from '../check/confirm-payment.ts';
import {
  assertNoneLost,
  assertWhole,
  type ClaimDeps,
  claimPayRun,
  findPayRun,
} from '../ledger/pay-run-claim.ts';
import { findPart } from '../ledger/pay-run-find.ts';
import type { PayRun } from '../ledger/pay-run-key.ts';
import { recordKnownPart, sendPart, submitOrFind } from '../ledger/pay-run-send.ts';
import type { AgentClient, Terminal } from '../ports.ts';

export type WholeDeps = ClaimDeps & {
  readonly client: AgentClient;
  readonly terminal: Terminal;
  /** Asked last, before anything is sent. Not asked if an earlier run sent the roster. */
  readonly approve: ApprovePayment;
};

export type WholeOutcome = {
  readonly job: DisbursementJob;
  /** An earlier run submitted the roster. This one sent nothing. */
  readonly isRepeat: boolean;
};

/**
 * The job of this roster under this label: the existing one, or a new one.
 * @throws PoolError `pay_run_conflict`, `pay_run_job_lost`, `payment_declined`, and the errors of {@link askFirst}
 */
export async function payWhole(
  plan: PayRun & { readonly unregistered?: 'fail' | 'skip' | undefined },
  deps: WholeDeps,
): Promise<WholeOutcome> {
  const { client } = deps;
  const { digest, sent, count = 1 } = await findPayRun(plan, deps);
  assertWhole(count);
  const name = { payRun: plan.payRun, digest, part: 1, count };
  const seen = sent?.parts[0];
  const { key, attempt, job } = await findPart(name, seen?.attempt ?? 1, client);
  assertNoneLost(job === undefined && seen?.sent === 'accepted' ? [1] : []);
  const request = createRequest(plan, plan.entries, plan.unregistered);
  if (job === undefined) {
    // A submission is refused with its first problem only. The operator needs all of them to correct the file.
    const skipped = await askFirst(plan.entries, request, deps);
    await deps.approve(plan, { ...plan, skipped, parts: 1 });
  }
  await claimPayRun(plan, { digest, count }, deps);
  const place = { digest, part: 1, count, attempt };
  if (job !== undefined) {
    recordKnownPart(plan, place, deps);
    return { job, isRepeat: true };
  }
  const submitted = await sendPart(plan, place, () => submitOrFind(client, key, request), deps);
  return { job: submitted, isRepeat: false };
}
