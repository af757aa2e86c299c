/**
 * Amounts as people write them: in base units, or in token units with the separators of a declared number format and perhaps the token's
 * symbol. Nothing is guessed: `1,500` means 1500 to one reader and 1.5 to another (docs/decisions/0008).
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
} from '../values/amount.ts';
import type { EvmChainSettings } from './chain-settings.ts';

/** How amounts in token units are written: what is between thousands, and what is before decimals. */
export const numberFormats = [
  'plain',
  'comma-point',
  'point-comma',
  'space-comma',
  'apostrophe-point',
] as const;
export type NumberFormat = (typeof numberFormats)[number];

/** One amount in each format. */
export const numberFormatExamples: Readonly<Record<NumberFormat, string>> = {
  plain: '1234.50',
  'comma-point': '1,234.50',
  'point-comma': '1.234,50',
  'space-comma': '1 234,50',
  'apostrophe-point': "1'234.50",
};

const patterns: Readonly<Record<NumberFormat, RegExp>> = {
  plain: /^([0-9]+)(?:\.([0-9]+))?$/,
  'comma-point': /^([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]+))?$/,
  'point-comma': /^([0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)(?:,([0-9]+))?$/,
  // Spreadsheets write narrow and non-breaking spaces too.
  'space-comma': /^([0-9]+|[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3})+)(?:,([0-9]+))?$/,
  'apostrophe-point': /^([0-9]+|[0-9]{1,3}(?:['\u2019][0-9]{3})+)(?:\.([0-9]+))?$/,
};

/** What people count a token in. */
export type TokenUnit = {
  readonly symbol: string;
  /** 0 to 36. */
  readonly decimals: number;
};

/** How a text is to be read. */
export type AmountUnit = TokenUnit & {
  /**
   * `base-units`, or token units in a format. `decimal`: nobody declared a format, so it is `plain`, and a text that another format reads
   * as another amount is refused.
   */
  readonly format: 'base-units' | 'decimal' | NumberFormat;
};

/** Formats that read a text, all as the same amount. */
export type OtherReading = {
  readonly formats: readonly ('decimal' | NumberFormat)[];
  readonly amount: Amount;
};

export type AmountReading =
  | { readonly kind: 'amount'; readonly amount: Amount }
  | {
      readonly kind: 'mistake';
      /** What is wrong, as the rest of a sentence that begins with the text. */
      readonly problem: string;
      /** How declared formats would read the text. Empty: none of them can. */
      readonly readings: readonly OtherReading[];
    };

/** Reads one amount exactly as its unit says. */
export function readAmount(text: string, unit: AmountUnit): AmountReading {
  const { format } = unit;
  const found =
    format === 'base-units'
      ? readBaseUnits(text)
      : readTokenUnits(text, unit, format === 'decimal' ? 'plain' : format);
  if (typeof found === 'string') {
    return { kind: 'mistake', problem: found, readings: findReadings(text, unit) };
  }
  const readings = format === 'decimal' ? findReadings(text, unit) : [];
  return readings.length > 1
    ? { kind: 'mistake', problem: 'has more than one meaning', readings }
    : { kind: 'amount', amount: found };
}

/** An amount as people read it: `1234.5 USDC`. */
export function formatTokenAmount(amount: bigint, { symbol, decimals }: TokenUnit): string {
  return `${formatTokenUnits(amount, decimals)} ${symbol}`;
}

/** The unit of a token of a chain's settings. Undefined: the settings do not list it. */
export function findTokenUnit(
  tokens: EvmChainSettings['tokens'],
  address: string,
): TokenUnit | undefined {
  const found = Object.entries(tokens).find(([, token]) => token.address === address);
  return found === undefined ? undefined : { symbol: found[0], decimals: found[1].decimals };
}

/** Of a token that settings may not list: as {@link describeTokenAmount}, or base units only. */
export function describeAmountOf(
  tokens: EvmChainSettings['tokens'],
  address: string,
  amount: bigint,
): string {
  const unit = findTokenUnit(tokens, address);
  return unit === undefined ? `${amount} base units` : describeTokenAmount(amount, unit);
}

/** For messages that programs read too: `1234.5 USDC (1234500000 base units)`. */
export function describeTokenAmount(amount: bigint, unit: TokenUnit): string {
  return `${formatTokenAmount(amount, unit)} (${amount} base units)`;
}

function findReadings(text: string, unit: AmountUnit): readonly OtherReading[] {
  const found = numberFormats.flatMap((format) => {
    const amount = format === unit.format ? '' : readTokenUnits(text, unit, format);
    return typeof amount === 'string' ? [] : [{ format, amount }];
  });
  const groups = [...Map.groupBy(found, ({ amount }) => amount)];
  return groups.map(([amount, same]) => {
    const formats = same.map(({ format }) => format);
    // The other formats read it too, because it has no separator between thousands.
    const isPlain = formats.includes('plain');
    return { amount, formats: isPlain ? [groups.length > 1 ? 'plain' : 'decimal'] : formats };
  });
}

/** @returns the problem, if it is a text */
function readBaseUnits(text: string): Amount | string {
  if (isAmountString(text)) {
    return parseAmount(text);
  }
  const common = judge(text);
  if (common !== undefined) {
    return common;
  }
  return /^[0-9]+$/.test(text)
    ? 'is more than 2^128-1, the largest amount'
    : 'is not a whole number of base units';
}

/** @returns the problem, if it is a text */
function readTokenUnits(text: string, unit: AmountUnit, format: NumberFormat): Amount | string {
  const { symbol, decimals } = unit;
  const [number, names] = splitNames(text, symbol);
  const foreign = names.find((name) => !isNameOf(name, symbol));
  if (foreign !== undefined || names.length > 1) {
    return names.length > 1
      ? 'names its unit twice'
      : `is in ${foreign}, but the token is ${symbol}`;
  }
  const common = judge(number);
  if (common !== undefined) {
    return common;
  }
  const match = patterns[format].exec(number);
  if (match === null) {
    return `is not an amount in token units, written like ${numberFormatExamples[format]}`;
  }
  const [, grouped = '', fraction = ''] = match;
  const whole = grouped.replace(/[^0-9]/g, '');
  const plain = fraction === '' ? whole : `${whole}.${fraction}`;
  const problem = judge(plain);
  if (problem !== undefined) {
    return problem;
  }
  if (fraction.length > decimals) {
    return `has ${fraction.length} decimals, but ${symbol} has ${decimals}; write ${decimals === 0 ? 'a whole number' : `at most ${decimals} decimals`}`;
  }
  return whole.length > 39 || BigInt(`${whole}${fraction.padEnd(decimals, '0')}`) > maxAmount
    ? 'is more than 2^128-1 base units, the largest amount'
    : parseTokenUnits(plain, decimals);
}

/** The number in the middle, and what is written before and behind it. A symbol can have digits. */
function splitNames(text: string, symbol: string): readonly [string, readonly string[]] {
  if (/^\p{L}/u.test(symbol) && text.endsWith(symbol)) {
    const [number, names] = splitNames(text.slice(0, -symbol.length).trimEnd(), '');
    return [number, [...names, symbol]];
  }
  const name = '[\\p{L}\\p{Sc}][^\\s\\d]*|';
  const match = new RegExp(`^(${name})\\s*(.*?)\\s*(${name})$`, 'su').exec(text);
  const [, before = '', number = text, behind = ''] = match ?? [];
  return [number, [before, behind].filter((part) => part !== '')];
}

/** Signs and codes of currencies that many tokens follow. Not the dollar sign: many currencies have it. */
const currencies: Readonly<Record<string, string>> = {
  USD: 'USD',
  '€': 'EUR',
  EUR: 'EUR',
  '£': 'GBP',
  GBP: 'GBP',
};

/**
 * The symbol itself; or the currency that it is, perhaps with one letter of the issuer: € names EURC, and neither USDC nor sEURe, which is
 * worth another amount; or a dollar sign that the symbol has.
 */
function isNameOf(name: string, symbol: string): boolean {
  if (name === '$') {
    return symbol.includes('$');
  }
  const currency = Object.hasOwn(currencies, name) ? currencies[name] : undefined;
  const issuer = currency !== undefined && symbol.startsWith(currency) ? symbol.slice(3) : '?';
  return name === symbol || /^[A-Z]?$/.test(issuer);
}

/** A problem that does not depend on unit or format; undefined: there is none. */
function judge(text: string): string | undefined {
  if (text === '') {
    return 'has no digits';
  }
  if (/^[-\u2212]/.test(text)) {
    return 'is negative; an amount must be more than zero';
  }
  if (/^\+/.test(text)) {
    return 'has a sign; write only the digits';
  }
  if (/^[0-9.,]+e[+-]?[0-9]+$/i.test(text)) {
    return 'is in scientific notation and may have lost digits; format the column as text and write all digits';
  }
  if (/^0+(?:\.0*)?$/.test(text)) {
    return 'is zero; write an amount above zero, or remove the line';
  }
  if (/^0[0-9]+(?:\.[0-9]*)?$/.test(text)) {
    return `has a leading zero; write ${text.replace(/^0+(?=[0-9])/, '')}`;
  }
  return undefined;
}
