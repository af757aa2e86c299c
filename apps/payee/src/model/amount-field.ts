/**
 * What a person typed as an amount. A text that two number formats read differently is never guessed (docs/decisions/0008).
 *
 * @module
 */
import { type Amount, readAmount, type TokenUnit } from '@pool/core';

export type AmountField =
  | { readonly kind: 'empty' }
  | { readonly kind: 'amount'; readonly amount: Amount }
  /** Base units that the text can mean. */
  | { readonly kind: 'unclear'; readonly readings: readonly bigint[] }
  | { readonly kind: 'too-many-decimals' }
  | { readonly kind: 'not-an-amount' }
  | { readonly kind: 'too-much' };

/**
 * @param total - base units; a larger amount is `too-much`. What a payment that is underway holds counts: the owner may repeat that payment,
 *   which continues it, and the wallet refuses another one that needs those notes
 */
export function readAmountField(text: string, unit: TokenUnit, total: bigint): AmountField {
  const typed = text.trim();
  if (typed === '') return { kind: 'empty' };
  const read = readAmount(typed, { ...unit, format: 'decimal' });
  if (read.kind === 'amount') {
    return read.amount > total ? { kind: 'too-much' } : read;
  }
  if (read.readings.length > 0) {
    return { kind: 'unclear', readings: read.readings.map(({ amount }) => amount) };
  }
  const decimals = /^[0-9]+[.,]([0-9]+)$/.exec(typed)?.[1];
  return decimals !== undefined && decimals.length > unit.decimals
    ? { kind: 'too-many-decimals' }
    : { kind: 'not-an-amount' };
}
