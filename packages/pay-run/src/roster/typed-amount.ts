/**
 * Amounts that are typed after an option: base units, tokens as `1000.50USDC`, or tokens with `--decimal`. A number without a unit is asked
 * about on a terminal, because base units and tokens differ by a factor of a million (docs/decisions/0008).
 *
 * @module
 */
import {
  type Amount,
  type AmountUnit,
  formatTokenAmount,
  formatTokenUnits,
  isAmountString,
  PoolError,
  quote,
  readAmount,
  type TokenUnit,
} from '@pool/core';
import { askUnit, type UnitQuestion } from './roster-amount.ts';

export type TypedAmount = {
  /** For messages, for example `--amount`. */
  readonly option: string;
  readonly text: string;
};

export type AmountRules = UnitQuestion & {
  /** Symbol of the token. */
  readonly token: string;
  /** Of the token. Undefined: it is not known here. */
  readonly decimals: number | undefined;
  /** `--decimal` or `--number-format`: numbers without a unit are tokens. */
  readonly format: AmountUnit['format'];
  /** For people. Scripts have it in their log. */
  readonly terminal: { write(text: string): void };
};

/**
 * @returns base units, decimal, in the same order
 * @throws PoolError `invalid-amount`; `payment_declined`: the question was not answered
 */
export async function readTypedAmounts(
  typed: readonly TypedAmount[],
  rules: AmountRules,
): Promise<readonly string[]> {
  const bare = typed.filter(({ text }) => isBare(text, rules));
  const isInTokens = bare.length > 0 && (await decideUnit(bare, rules)) === 'decimal';
  return typed.map((one) =>
    isBare(one.text, rules) && !isInTokens ? one.text : String(readInTokens(one, rules)),
  );
}

/** Digits alone, for which nobody said what they count. */
function isBare(text: string, { format }: AmountRules): boolean {
  return format === 'base-units' && isAmountString(text);
}

async function decideUnit(
  bare: readonly TypedAmount[],
  { token, decimals, isUnasked, ask, terminal }: AmountRules,
): Promise<'base-units' | 'decimal'> {
  if (decimals === 0) {
    return 'base-units';
  }
  if (decimals === undefined) {
    if (isUnasked) {
      throw createUnknown(bare[0]?.option ?? '', token);
    }
    return 'base-units';
  }
  const unit: TokenUnit = { symbol: token, decimals };
  const small = bare.find(({ text }) => BigInt(text) < 10n ** BigInt(decimals));
  if (isUnasked) {
    if (small !== undefined) {
      throw createTooSmall(small, unit);
    }
    return 'base-units';
  }
  if (ask === undefined) {
    if (small !== undefined) {
      const { option, text } = small;
      terminal.write(
        `warning: ${option}: ${text} has no unit, so it is in base units, which is ${formatTokenAmount(BigInt(text), unit)}; write ${text}${token} if it is in tokens\n`,
      );
    }
    return 'base-units';
  }
  const list = (read: (text: string) => string): string =>
    bare.map(({ text }) => read(text)).join(', ');
  return askUnit(ask, {
    what: `${list((text) => text)} has no unit.`,
    inBaseUnits: list((text) => formatTokenAmount(BigInt(text), unit)),
    inTokens: list((text) => `${text} ${token}`),
    advice: `the unit of the amount was not chosen; write for example ${bare[0]?.text ?? ''}${token}, which is in tokens`,
  });
}

function createUnknown(option: string, token: string): PoolError {
  return new PoolError(
    'invalid-amount',
    `${option}: chains.json does not say how many decimals ${token} has, so the amount cannot be shown in tokens; correct --token, or name the chain with --chain`,
  );
}

function createTooSmall({ option, text }: TypedAmount, unit: TokenUnit): PoolError {
  const { symbol, decimals } = unit;
  const shown = formatTokenUnits(BigInt(text), decimals);
  return new PoolError(
    'invalid-amount',
    `${option}: ${text} is in base units, which is ${shown} ${symbol}; --yes takes less than one ${symbol} only if it is written in tokens: ${shown}${symbol} for this amount, or ${text}${symbol}`,
  );
}

function readInTokens({ option, text }: TypedAmount, rules: AmountRules): Amount {
  const { token, decimals } = rules;
  if (decimals === undefined) {
    throw createUnknown(option, token);
  }
  // Digits alone come here if they were said to be tokens.
  const isToken = isAmountString(text) || /[\p{L}\p{Sc}]/u.test(text);
  const format = rules.format === 'base-units' && isToken ? 'decimal' : rules.format;
  const unit: AmountUnit = { symbol: token, decimals, format };
  const found = readAmount(text, unit);
  if (found.kind === 'amount') {
    return found.amount;
  }
  const forms = found.readings.map(({ amount }) => {
    const form = `${formatTokenUnits(amount, decimals)}${token}`;
    const isClear = readAmount(form, { ...unit, format: 'decimal' }).kind === 'amount';
    return isClear ? form : `${form} with --number-format plain`;
  });
  const advice = forms.length === 0 ? '' : `; write ${forms.join(' or ')}`;
  throw new PoolError('invalid-amount', `${option}: ${quote(text)} ${found.problem}${advice}`);
}
