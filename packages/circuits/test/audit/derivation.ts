/** How one or more wires follow from wires before them. */
import type { Digits } from './digits.ts';

/** A sum of multiples of rows, and the wires that count as zero when the rows are evaluated. */
export type Combination = {
  readonly rows: ReadonlyMap<number, bigint>;
  readonly unknown: ReadonlySet<number>;
};

export type Derivation =
  /** The only unknown of a row, which is linear in it with a constant coefficient. */
  | { readonly kind: 'solve'; readonly row: number; readonly wires: readonly [number] }
  /** Digits of a sum (digits.ts), or the one unknown of a combination of linear rows. */
  | {
      readonly kind: 'digits' | 'linear';
      readonly combination: Combination;
      readonly digits: Digits | undefined;
      readonly wires: readonly number[];
    }
  /** One row determines the wire where a known factor is not zero, another row where it is. */
  | {
      readonly kind: 'split';
      readonly whenNonZero: number;
      readonly whenZero: number;
      readonly wires: readonly [number];
    }
  /** Each wire times (e − kᵢ) is zero with distinct kᵢ, and one sum of them is known: a one-hot selection. */
  | {
      readonly kind: 'select';
      readonly products: readonly number[];
      readonly sum: number;
      readonly wires: readonly number[];
    }
  /** Of these booleans one is 1, and a known sum with a weight of its own for each says which. */
  | {
      readonly kind: 'place';
      readonly ones: number;
      readonly places: number;
      readonly wires: readonly number[];
    }
  /** A lemma says so (lemmas.ts). With a row, the row gives the value. */
  | { readonly kind: 'argued'; readonly row: number | undefined; readonly wires: readonly number[] }
  /** Nothing determines the wire. It counts as chosen by the prover, and the derivation goes on. */
  | { readonly kind: 'free'; readonly wires: readonly [number] };

/** The rows that a derivation reads. */
export function listRows(derivation: Derivation): number[] {
  switch (derivation.kind) {
    case 'solve':
      return [derivation.row];
    case 'digits':
    case 'linear':
      return [...derivation.combination.rows.keys()];
    case 'split':
      return [derivation.whenNonZero, derivation.whenZero];
    case 'select':
      return [...derivation.products, derivation.sum];
    case 'place':
      return [derivation.ones, derivation.places];
    case 'argued':
      return derivation.row === undefined ? [] : [derivation.row];
    case 'free':
      return [];
  }
}
