/**
 * Which payments a list or an export has.
 *
 * @module
 */
import { isLabelOf } from '../ledger/invited-record.ts';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import type { Payer } from '../ports.ts';
import type { PaymentState, StoredPayment } from './stored-payments.ts';

export type JobFilter = {
  readonly chain?: string;
  /** Symbol. */
  readonly token?: string;
  readonly state?: PaymentState;
  readonly payRun?: string;
  /** ISO 8601 in UTC, included. */
  readonly from?: string | undefined;
  /** ISO 8601 in UTC, not included. */
  readonly to?: string | undefined;
};

/** Those that the filter leaves. A period is of the submission. */
export function selectPayments(
  payments: readonly StoredPayment[],
  filter: JobFilter,
): readonly StoredPayment[] {
  const { chain, token, state } = filter;
  const label = filter.payRun === undefined ? undefined : parsePayRun(filter.payRun);
  return payments.filter(
    (payment) =>
      (state === undefined || payment.state === state) &&
      (chain === undefined || payment.record?.chain === chain) &&
      (token === undefined || payment.record?.tokenSymbol === token) &&
      (label === undefined ||
        (payment.place !== undefined && isLabelOf(payment.place.payRun, label))) &&
      isInPeriod(payment.createdAtMs, filter),
  );
}

/** @param timeMs - absent: it has none, and is in every period */
export function isInPeriod(
  timeMs: number | undefined,
  { from, to }: Pick<JobFilter, 'from' | 'to'>,
): boolean {
  return (
    timeMs === undefined ||
    ((from === undefined || timeMs >= Date.parse(from)) &&
      (to === undefined || timeMs < Date.parse(to)))
  );
}

/** Of the token, if the settings still list it. */
export function decimalsOf(
  { readChains }: Pick<Payer, 'readChains'>,
  chain: string,
  symbol: string,
): { readonly decimals?: number } {
  const tokens = readChains()[chain]?.tokens ?? {};
  const found = Object.hasOwn(tokens, symbol) ? tokens[symbol] : undefined;
  return found === undefined ? {} : { decimals: found.decimals };
}
