/**
 * What a person has argued because no rule of the propagation shows it. Each lemma is in the committed list with its argument, and the
 * fuzzer attacks its wires like hints.
 */
export type Lemmas = {
  /** Wires that are quotients by a wire, where the divisor is never zero. */
  readonly quotients: ReadonlySet<number>;
  /** Wires that are determined once others are. */
  readonly consequences: readonly {
    readonly wires: readonly number[];
    readonly given: readonly number[];
  }[];
};

export const noLemmas: Lemmas = { quotients: new Set(), consequences: [] };
