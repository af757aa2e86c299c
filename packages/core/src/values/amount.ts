/**
 * Amounts: positive integers of a token's base units below 2^128 (protocol §1). On the
 * wire: canonical decimal strings, so that no client's floating point ever touches money.
 *
 * @module
 */
import type { Brand } from '../errors/brand.ts';
import { PoolError } from '../errors/pool-error.ts';

/** Base units of one token, 0 … 2^128-1. Made by {@link parseAmount}, {@link parseTokenUnits}, {@link assertAmount}. */
export type Amount = Brand<bigint, 'Amount'>;

/** Largest amount and largest batch total: 2^128 - 1. */
export const maxAmount = (1n << 128n) - 1n;

const canonicalDecimal = /^[1-9][0-9]{0,38}$/;

/** True for a canonical decimal string of 1 … 2^128-1: no sign, no leading zero, no point. */
export function isAmountString(value: unknown): value is string {
  return typeof value === 'string' && canonicalDecimal.test(value) && BigInt(value) <= maxAmount;
}

/** @throws PoolError `invalid-amount` unless the value is a canonical positive amount */
export function parseAmount(value: unknown): Amount {
  if (!isAmountString(value)) {
    throw new PoolError(
      'invalid-amount',
      'amount must be a whole number of base units from 1 to 2^128-1, written without sign, point or leading zero',
    );
  }
  return BigInt(value) as Amount;
}

/**
 * For sums and differences of amounts.
 * @throws PoolError `invalid-amount` for an integer below 0 or of 2^128 or more
 */
export function assertAmount(value: bigint): Amount {
  if (value < 0n || value > maxAmount) {
    throw new PoolError('invalid-amount', 'an amount is 0 to 2^128-1 base units');
  }
  return value as Amount;
}

/**
 * Reads an amount written in token units ("12.5") as base units.
 * @param decimals - the token's decimals, 0 … 36
 * @throws PoolError `invalid-amount` for anything but digits with at most `decimals` after one point, and for a
 * leading zero: "007.5" is refused like "007"
 */
export function parseTokenUnits(value: string, decimals: number): Amount {
  const match = /^(0|[1-9][0-9]{0,38})(?:\.([0-9]{1,36}))?$/.exec(value);
  const whole = match?.[1];
  const fraction = match?.[2] ?? '';
  if (whole === undefined || fraction.length > decimals) {
    throw new PoolError(
      'invalid-amount',
      `amount must be digits with at most ${decimals} after the decimal point, without sign or leading zero`,
    );
  }
  const digits = `${whole}${fraction.padEnd(decimals, '0')}`.replace(/^0+(?=[0-9])/, '');
  return parseAmount(digits);
}

/**
 * Writes base units in token units, exactly and without trailing zeros: 1500000 with 6 decimals is "1.5".
 * @param amount - an amount or a sum of amounts, not negative
 * @param decimals - the token's decimals, 0 … 36
 * @throws PoolError `invalid-amount` for a negative integer
 */
export function formatTokenUnits(amount: bigint, decimals: number): string {
  if (amount < 0n) {
    throw new PoolError('invalid-amount', 'an amount is never negative');
  }
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return decimals === 0 || fraction === '' ? whole : `${whole}.${fraction}`;
}
