/**
 * Amounts in a currency of a bank, by a rate that the user gives. Nothing here asks for a price.
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** A rate that the user gave: units of the currency for one token. */
export type FiatRate = {
  /** ISO 4217. */
  readonly currency: string;
  /** As it was written, a plain decimal. */
  readonly rate: string;
};

/** @param text - for example `EUR=0.92`. @throws PoolError `invalid_request` */
export function parseFiatRate(text: string): FiatRate {
  const [, currency, rate] =
    /^([A-Z]{3})=((?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,18})?)$/.exec(text) ?? [];
  if (currency === undefined || rate === undefined || !/[1-9]/.test(rate)) {
    throw new PoolError(
      'invalid_request',
      'give a rate as currency=units for one token, for example EUR=0.92',
    );
  }
  if (!Intl.supportedValuesOf('currency').includes(currency)) {
    throw new PoolError('invalid_request', `${currency} is not a currency code of ISO 4217`);
  }
  return { currency, rate };
}

/** Digits after the point in amounts of a currency: 2 for EUR, 0 for JPY. */
function digitsOfCurrency(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/**
 * Rounds half up.
 * @param amount - base units of the token
 * @returns in the smallest unit of the currency
 */
export function convertAmount(
  amount: bigint,
  decimals: number,
  { currency, rate }: FiatRate,
): bigint {
  const [whole = '', fraction = ''] = rate.split('.');
  const scaled = amount * BigInt(whole + fraction) * 10n ** BigInt(digitsOfCurrency(currency));
  const divisor = 10n ** BigInt(decimals + fraction.length);
  return (2n * scaled + divisor) / (2n * divisor);
}

/** With all its digits, as banks write it: `12.50`. @param amount - in the smallest unit of the currency */
export function formatFiat(amount: bigint, currency: string): string {
  const digits = digitsOfCurrency(currency);
  const text = amount.toString().padStart(digits + 1, '0');
  const cut = text.length - digits;
  return digits === 0 ? text : `${text.slice(0, cut)}.${text.slice(cut)}`;
}

/** As {@link formatFiat} writes it; digits after the point may be missing. @returns in the smallest unit of the currency. @throws PoolError `invalid_request` */
export function parseFiat(text: string, currency: string): bigint {
  const digits = digitsOfCurrency(currency);
  const [, whole = '', fraction = ''] = /^(0|[1-9][0-9]{0,14})(?:\.([0-9]+))?$/.exec(text) ?? [];
  if (whole === '' || fraction.length > digits) {
    throw new PoolError(
      'invalid_request',
      `an amount in ${currency} has at most ${digits} digits after the point and nothing between thousands, for example ${formatFiat(123456n, currency)}`,
    );
  }
  return BigInt(whole + fraction.padEnd(digits, '0'));
}
