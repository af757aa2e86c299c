/**
 * The amounts of a roster: base units, or token units in the declared number format (docs/decisions/0008). An invalid amount is quoted with
 * its problem, and with the options that would read it. The parser never guesses: `1,500` means 1500 to one reader and 1.5 to another.
 *
 * @module
 */
import {
  type Amount,
  type AmountUnit,
  formatTokenAmount,
  formatTokenUnits,
  type NumberFormat,
  PoolError,
  quote,
  readAmount,
} from '@pool/core';

export type RosterAmount =
  | { readonly kind: 'amount'; readonly amount: Amount }
  | { readonly kind: 'mistake'; readonly message: string };

export function parseRosterAmount(text: string, unit: AmountUnit): RosterAmount {
  if (text === '') {
    return { kind: 'mistake', message: 'the amount is missing' };
  }
  const found = readAmount(text, unit);
  if (found.kind === 'amount') {
    return found;
  }
  const advice = found.readings.map(
    ({ formats, amount }) =>
      `; ${formats.map(nameOption).join(' or ')} reads it as ${formatTokenAmount(amount, unit)}`,
  );
  return { kind: 'mistake', message: `${quote(text)} ${found.problem}${advice.join('')}` };
}

function nameOption(format: 'decimal' | NumberFormat): string {
  return format === 'decimal' ? '--decimal' : `--number-format ${format}`;
}

/** The format that the options declare. */
export function chooseFormat(options: {
  readonly decimal?: boolean;
  readonly numberFormat?: NumberFormat;
}): AmountUnit['format'] {
  return options.numberFormat ?? (options.decimal === true ? 'decimal' : 'base-units');
}

type Amounts = readonly { readonly amount: string }[];

/** What a roster of digits alone counts: nobody said it. */
export type UnitQuestion = {
  /** `--yes`: nobody is asked, so no recipient may get less than one token. */
  readonly isUnasked: boolean;
  /** Undefined: there is nobody to ask. */
  readonly ask: ((question: string) => Promise<string | undefined>) | undefined;
};

/**
 * Asks on a terminal whether the amounts of a roster are base units or tokens.
 * @param entries - read as base units
 * @returns the format to read the roster in
 * @throws PoolError `payment_declined`; `invalid-amount` under `--yes`
 */
export async function decideRosterUnit(
  entries: Amounts,
  unit: AmountUnit,
  { isUnasked, ask }: UnitQuestion,
): Promise<AmountUnit['format']> {
  const { format, decimals, symbol } = unit;
  if (format !== 'base-units' || decimals === 0 || entries.length === 0) {
    return format;
  }
  const one = 10n ** BigInt(decimals);
  if (isUnasked) {
    const small = entries.find(({ amount }) => BigInt(amount) < one);
    if (small !== undefined) {
      throw new PoolError(
        'invalid-amount',
        `nothing was sent: the amounts have no unit, and as base units ${small.amount} is ${formatTokenAmount(BigInt(small.amount), unit)}; --yes takes less than one ${symbol} only from a roster in tokens: use --decimal`,
      );
    }
    return format;
  }
  if (ask === undefined) {
    return format;
  }
  const largest = findLargest(entries);
  const total = sumAmounts(entries);
  return askUnit(ask, {
    what: 'The amounts of the roster have no unit.',
    inBaseUnits: `the largest is ${formatTokenAmount(largest, unit)}, all together ${formatTokenAmount(total, unit)}`,
    inTokens: `the largest is ${largest} ${symbol}, all together ${total} ${symbol}`,
    advice: 'the unit of the amounts was not chosen; --decimal declares tokens',
  });
}

/** Asks on a terminal what numbers without a unit count. @throws PoolError `payment_declined` */
export async function askUnit(
  ask: NonNullable<UnitQuestion['ask']>,
  words: Readonly<Record<'what' | 'inBaseUnits' | 'inTokens' | 'advice', string>>,
): Promise<'base-units' | 'decimal'> {
  const lines = [
    `${words.what} What is meant?`,
    `  b  base units: ${words.inBaseUnits}`,
    `  t  tokens:     ${words.inTokens}`,
    '[b/t] ',
  ];
  const letter = (await ask(lines.join('\n')))?.trim().toLowerCase();
  if (letter !== 'b' && letter !== 't') {
    throw new PoolError('payment_declined', `nothing was sent: ${words.advice}`);
  }
  return letter === 't' ? 'decimal' : 'base-units';
}

/**
 * Warns of amounts in base units that look like token units: no recipient would receive one whole token.
 * @returns a warning; undefined: the amounts are plausible
 */
export function warnOfTokenUnits(entries: Amounts, unit: AmountUnit): string | undefined {
  const { decimals, symbol, format } = unit;
  const largest = findLargest(entries);
  if (format !== 'base-units' || largest === 0n || largest >= 10n ** BigInt(decimals)) {
    return undefined;
  }
  return `warning: amounts are read as base units, and no recipient of this roster receives a whole ${symbol}: the largest amount, ${largest}, is ${formatTokenUnits(largest, decimals)} ${symbol}; use --decimal if the amounts are in ${symbol}`;
}

/** The sum, in base units. */
export function sumAmounts(entries: Amounts): bigint {
  return entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

function findLargest(entries: Amounts): bigint {
  return entries.reduce(
    (found, { amount }) => (BigInt(amount) > found ? BigInt(amount) : found),
    0n,
  );
}
