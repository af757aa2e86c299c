/**
 * The last step before money moves: prints what is about to be paid, and asks for confirmation on a terminal
 * (docs/decisions/0008). A script is not asked and does not wait.
 *
 * @module
 */

import { PoolError } from '@pool/core';
import type { ClaimDeps } from '../ledger/pay-run-claim.ts';
import type { PayRun } from '../ledger/pay-run-key.ts';
import { describeSameRoster, findPaidSameRoster } from '../ledger/same-roster.ts';
import type { Ask, Output, Terminal } from '../ports.ts';
import { describePayment, type PendingPayment } from './pay-run-echo.ts';

/**
 * Confirms a payment, or throws.
 * @param plan - the whole roster under its label
 * @param pending - the part of it that this run sends
 */
export type ApprovePayment = (plan: PayRun, pending: PendingPayment) => Promise<void>;

export type ApprovalDeps = ClaimDeps & {
  /** Of the token. */
  readonly decimals: number;
  readonly terminal: Terminal;
  /** Undefined: there is no terminal to ask on, or `--yes` is given. */
  readonly ask: Ask | undefined;
};

/** The returned function throws PoolError `payment_declined`. Nothing was sent then. */
export function createApproval(deps: ApprovalDeps): ApprovePayment {
  const { decimals, terminal, ask } = deps;
  const writeLine = (line: string): void => terminal.write(`${line}\n`);
  return async (plan, pending) => {
    for (const line of describePayment(pending, decimals)) {
      writeLine(line);
    }
    for (const same of await findPaidSameRoster(plan, deps)) {
      writeLine(describeSameRoster(same));
      await confirm(ask, `Pay everybody on it again, under ${pending.payRun}?`);
    }
    await confirm(ask, 'Send this payment?');
  };
}

async function confirm(ask: Ask | undefined, question: string): Promise<void> {
  if (!(await isConfirmed({ ask }, question))) {
    throw new PoolError('payment_declined', 'nothing was sent: the payment was not confirmed');
  }
}

/** @returns whether the answer is yes. Nobody to ask: true */
export async function isConfirmed(
  { ask }: Pick<Output, 'ask'>,
  question: string,
): Promise<boolean> {
  return ask === undefined || /^\s*y(?:es)?\s*$/i.test((await ask(`${question} [y/N] `)) ?? '');
}
