/**
 * The amounts of a roster: base units, or token units with `--decimal` (docs/decisions/0022, §6). An invalid amount is quoted
 * with its problem. The parser never guesses: `1,500` means 1500 to one reader and 1.5 to another.
 *
 * @module
 */
import {
  type Amount,
  formatTokenUnits,
  isAmountString,
  maxAmount,
  parseAmount,
  parseTokenUnits,
} from '@pool/core';
import { quote } from './roster-quote.ts';

/** The unit of a roster's amounts. */
export type AmountUnit = {
  /** Decimals of the token, 0 to 36. */
  readonly decimals: number;
  /** Symbol of the token. */
  readonly token: string;
  /** Amounts are in token units (`--decimal`); else in base units. */
  readonly isDecimal: boolean;
};

export type RosterAmount =
  | { readonly kind: 'amount'; readonly amount: Amount }
  | { readonly kind: 'mistake'; readonly message: string };

export function parseRosterAmount(text: string, unit: AmountUnit): RosterAmount {
  const message = unit.isDecimal ? judgeDecimal(text, unit) : judgeBaseUnits(text);
  if (message !== undefined) {
    return { kind: 'mistake', message };
  }
  const amount = unit.isDecimal ? parseTokenUnits(text, unit.decimals) : parseAmount(text);
  return { kind: 'amount', amount };
}

/** @returns the problem; undefined: the amount is valid */
function judgeBaseUnits(text: string): string | undefined {
  if (isAmountString(text)) {
    return undefined;
  }
  const common = judgeAnyUnit(text);
  if (common !== undefined) {
    return common;
  }
  return /^[0-9]+$/.test(text)
    ? `${quote(text)} is more than 2^128-1, the largest amount`
    : `${quote(text)} is not a whole number of base units; use --decimal for token units`;
}

/** @returns the problem; undefined: the amount is valid */
function judgeDecimal(text: string, { decimals, token }: AmountUnit): string | undefined {
  const common = judgeAnyUnit(text);
  if (common !== undefined) {
    return common;
  }
  const shown = quote(text);
  const match = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text);
  if (match === null) {
    return `${shown} is not an amount in token units; write only digits, with a point before the decimals, for example 1500.00`;
  }
  const [, whole = '', fraction = ''] = match;
  if (fraction.length > decimals) {
    return `${shown} has ${fraction.length} decimals, but ${token} has ${decimals}; write ${decimals === 0 ? 'a whole number' : `at most ${decimals} decimals`}`;
  }
  return whole.length > 39 || BigInt(`${whole}${fraction.padEnd(decimals, '0')}`) > maxAmount
    ? `${shown} is more than 2^128-1 base units, the largest amount`
    : undefined;
}

/** A problem that does not depend on the unit; undefined: there is none. */
function judgeAnyUnit(text: string): string | undefined {
  const shown = quote(text);
  if (text === '') {
    return 'the amount is missing';
  }
  if (/^[-\u2212]/.test(text)) {
    return `${shown} is negative; an amount must be more than zero`;
  }
  if (/^\+/.test(text)) {
    return `${shown} has a sign; write only the digits`;
  }
  if (/^[0-9.,]+e[+-]?[0-9]+$/i.test(text)) {
    return `${shown} is in scientific notation and may have lost digits; format the column as text and write all digits`;
  }
  if (/^0+(?:\.0*)?$/.test(text)) {
    return `${shown} is zero; write an amount above zero, or remove the line`;
  }
  if (/^0[0-9]+(?:\.[0-9]*)?$/.test(text)) {
    return `${shown} has a leading zero; write ${text.replace(/^0+(?=[0-9])/, '')}`;
  }
  return undefined;
}

/**
 * Warns of amounts in base units that look like token units: no recipient would receive one whole token.
 * @returns a warning; undefined: the amounts are plausible
 */
export function warnOfTokenUnits(
  entries: readonly { readonly amount: string }[],
  unit: AmountUnit,
): string | undefined {
  const { decimals, token, isDecimal } = unit;
  const largest = entries.reduce((found, { amount }) => {
    const value = BigInt(amount);
    return value > found ? value : found;
  }, 0n);
  if (isDecimal || largest === 0n || largest >= 10n ** BigInt(decimals)) {
    return undefined;
  }
  return `warning: amounts are read as base units, and no recipient of this roster receives a whole ${token}: the largest amount, ${largest}, is ${formatTokenUnits(largest, decimals)} ${token}; use --decimal if the amounts are in ${token}`;
}

/** The sum, in base units. */
export function sumAmounts(entries: readonly { readonly amount: string }[]): bigint {
  return entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}
