/**
 * Pays a roster in as many parts as the chain's ceiling requires, for whoever has shown what is paid: a command, or a page.
 *
 * @module
 */
import type { ApprovePayment } from '../check/confirm-payment.ts';
import type { ClaimDeps } from '../ledger/pay-run-claim.ts';
import { openLedger } from '../ledger/shared-ledger.ts';
import {
  paySplit,
  type SplitDeps,
  type SplitOutcome,
  type SplitPlan,
} from '../pay/split-pay-run.ts';
import type { Payer } from '../ports.ts';

export type PayPlanOptions = Pick<SplitDeps, 'terminal' | 'signal' | 'pollMs' | 'onSent'> & {
  /** Confirms the payment over ledger and agent. */
  readonly createApproval: (claim: ClaimDeps) => ApprovePayment;
};

/** The same roster under the same label is paid once, however often and by whomever this is called. @throws as `paySplit` */
export async function payPlan(
  plan: SplitPlan,
  payer: Pick<Payer, 'ledger' | 'openAgent' | 'withChecks'>,
  { createApproval, ...options }: PayPlanOptions,
): Promise<SplitOutcome> {
  // Before the ledger: a directory without a token never had an agent.
  const client = payer.openAgent();
  const ledger = await openLedger(payer.ledger);
  try {
    const claim = { ledger, client, nowMs: ledger.nowMs };
    return await paySplit(plan, {
      ...claim,
      ...options,
      readCeiling: () => payer.withChecks(async ({ readCeiling }) => readCeiling(plan.chain)),
      approve: createApproval(claim),
    });
  } finally {
    await ledger.close();
  }
}
