/**
 * The last stop before money moves: says what is about to be paid, and asks where somebody can answer
 * (docs/decisions/0023). In a script nobody is asked, and nothing waits.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Ask } from '../terminal/command-output.ts';
import type { Terminal } from '../terminal/progress-view.ts';
import type { ClaimDeps } from './pay-run-claim.ts';
import { describePayment, type PendingPayment } from './pay-run-echo.ts';
import type { PayRun } from './pay-run-key.ts';
import { describeSameRoster, findPaidSameRoster } from './same-roster.ts';

/**
 * Lets a payment pass, or throws.
 * @param plan - the whole roster under its label; `pending` is what of it this run sends
 */
export type ApprovePayment = (plan: PayRun, pending: PendingPayment) => Promise<void>;

export type ApprovalDeps = ClaimDeps & {
  /** Of the token. */
  readonly decimals: number;
  readonly terminal: Terminal;
  /** Undefined: nobody can answer, or `--yes` has answered. */
  readonly ask: Ask | undefined;
};

/** @throws PoolError `payment_declined` from what it returns: nothing was sent */
export function createApproval(deps: ApprovalDeps): ApprovePayment {
  const { decimals, terminal, ask } = deps;
  const tell = (line: string): void => terminal.write(`${line}\n`);
  return async (plan, pending) => {
    for (const line of describePayment(pending, decimals)) {
      tell(line);
    }
    for (const same of await findPaidSameRoster(plan, deps)) {
      tell(describeSameRoster(same));
      await confirm(ask, `Pay everybody on it again, under ${pending.payRun}?`);
    }
    await confirm(ask, 'Send this payment?');
  };
}

async function confirm(ask: Ask | undefined, question: string): Promise<void> {
  if (ask === undefined) {
    return;
  }
  const answer = await ask(`${question} [y/N] `);
  if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
    throw new PoolError('payment_declined', 'nothing was sent: the payment was not confirmed');
  }
}
