/**
 * The last step of a spend: prints what is about to leave, in token units, and asks on a terminal. A script is not asked and gets the same
 * lines on standard error (docs/decisions/0008). After it, the receipt in tokens.
 *
 * @module
 */

import {
  formatTokenAmount,
  PoolError,
  type SendRequest,
  type SpendReceipt,
  type TransferRequest,
} from '@pool/core';
import { isConfirmed, type Output } from '@pool/pay-run';
import type { SpendPlace } from '../../services/holder/spend-place.ts';
import { nameOf } from './history-view.ts';

/** A spend that is about to be sent. */
export type PendingSpend =
  | { readonly operation: 'transfer'; readonly body: TransferRequest }
  | { readonly operation: 'send'; readonly body: SendRequest };

/** Prints what is about to leave, and asks if there is somebody to ask. @throws PoolError `payment_declined`. Nothing was sent then */
export async function confirmSpend(
  spend: PendingSpend,
  place: SpendPlace,
  { ask, terminal }: Pick<Output, 'ask' | 'terminal'>,
): Promise<void> {
  for (const line of describeSpend(spend, place)) {
    terminal.write(`${line}\n`);
  }
  if (!(await isConfirmed({ ask }, 'Send this?'))) {
    throw new PoolError('payment_declined', 'nothing was sent: the spend was not confirmed');
  }
}

/** For people, one line per fact. */
export function describeSpend(spend: PendingSpend, place: SpendPlace): readonly string[] {
  const on = place.chain === undefined ? '' : ` on ${place.chain}`;
  const what = spend.body.dryRun === true ? `dry run of a ${spend.operation}` : spend.operation;
  if (spend.operation === 'send') {
    const { amount, to, token } = spend.body;
    return [
      `${what}${on}: ${inTokens(amount, token, place)} to ${describeDestination(to, place)}`,
      '  the chain shows this amount and the address that receives it',
    ];
  }
  const { recipients, token } = spend.body;
  const total = recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return [
    `${what}${on}: ${inTokens(total, token, place)} in total to ${recipients.length} payee(s)`,
    ...listPayees(spend.body, place),
  ];
}

/** The receipt for people, beside the document. The receipt itself has no payees. */
export function describeReceipt(
  { status, changeAmount }: SpendReceipt,
  spend: PendingSpend,
  place: SpendPlace,
): readonly string[] {
  const { token } = spend.body;
  const change = `change: ${inTokens(changeAmount, token, place)}`;
  switch (status) {
    case 'reverted':
      return ['nothing was paid: the transaction reverted'];
    case 'dry-run':
      return [`dry run: nothing was sent; ${change}`];
    case 'success':
      return spend.operation === 'send'
        ? [
            `paid ${inTokens(spend.body.amount, token, place)} to ${describeDestination(spend.body.to, place)}; ${change}`,
          ]
        : [`paid; ${change}`, ...listPayees(spend.body, place)];
  }
}

function listPayees({ recipients, token }: TransferRequest, place: SpendPlace): readonly string[] {
  return recipients.map(
    ({ walletPub, amount }) =>
      `  ${inTokens(amount, token, place)} to ${nameOf(walletPub, place.labels ?? new Map())}`,
  );
}

/** An amount as people read it. */
export function inTokens(
  amount: string | bigint,
  symbol: string,
  { decimals }: Pick<SpendPlace, 'decimals'>,
): string {
  return decimals === undefined
    ? `${amount} base units of ${symbol}`
    : formatTokenAmount(BigInt(amount), { symbol, decimals });
}

function describeDestination(to: string | undefined, { destinations }: SpendPlace): string {
  const address = to === undefined ? undefined : destinations.get(to);
  if (to === undefined) {
    return "the holder's own wallet";
  }
  return address === undefined ? to : `${to} (${address})`;
}
