/**
 * What the audit must know about each circuit besides its rows: an honest input, which wires are the public vector, and what the
 * sources leave open on purpose.
 */
import { createBatch, toInput } from '../fund-batch.ts';
import type { KnownNumber } from './attacks.ts';
import type { Lemmas } from './lemmas.ts';
import type { HintProgram } from './recompute.ts';
import type { Symbols } from './symbols.ts';

export type AuditedCircuit = {
  readonly name: string;
  /** Template of the main component. */
  readonly template: string;
  readonly createInput: () => Readonly<Record<string, unknown>>;
  /** Public inputs that the private ones determine: the audit derives them and does not take them as given. */
  readonly derivedInputs: readonly string[];
  /** Names of the public vector x, one expression for each form of name. Also the derived inputs are protected. */
  readonly vector: readonly RegExp[];
  /** How many wires the vector has: a name that the compiler merged away must not go unnoticed. */
  readonly vectorSize: number;
  /** Hints (`Template.signal`) whose wire has the name of another signal, with that name. */
  readonly merged: Readonly<Record<string, string>>;
  /** Names of wires that are quotients with a divisor that is never zero: lemmas of the committed list. */
  readonly quotients: readonly RegExp[];
  /** Further lemmas: wires that others determine. */
  readonly findConsequences: (symbols: Symbols) => Lemmas['consequences'];
  /** Hints that are the inverse of what a row multiplies them by, or 0 if that is 0. */
  readonly inverses: RegExp;
  /** How an honest prover computes other hints that no row gives. */
  readonly findPrograms: (symbols: Symbols) => readonly HintProgram[];
  /** Numbers of several wires, for attacks on whole numbers. */
  readonly findNumbers: (symbols: Symbols) => readonly KnownNumber[];
  /** A name that alike wires share. Slots with and without an amount are not alike. */
  readonly groupOf: (name: string) => string;
};

/** Arrays of the main component with one item for each slot of a batch. */
const slotArrays = /^(notes|nonces|amounts|walletIds|px|py|leafIndices|siblings)\[(\d+)\]/;

/**
 * A fund circuit of this many slots. The last quarter of the slots have no amount: most are dummies of strangers, the last one has
 * wallet 0 and the path of an empty leaf, so that only the circuit's rule about wallet 0 keeps an amount out of it.
 */
export function describeFund(size: number, name: string): AuditedCircuit {
  const paid = size - Math.ceil(size / 4);
  const createInput = () => {
    const batch = createBatch(size, paid);
    return toInput({ ...batch, walletIds: batch.walletIds.with(size - 1, 0n) });
  };
  const labelSlot = (slot: number) =>
    slot < paid ? 'paid' : slot < size - 1 ? 'stranger' : 'empty';
  return {
    name,
    template: 'Fund',
    createInput,
    derivedInputs: ['D', 'y'],
    vectorSize: 5 + size,
    vector: [/^(assetId|total|batchId|eligibilityRoot|batch\.root)$/, /^batch\.leaves\[\d+\]$/],
    merged: {},
    quotients: [],
    findConsequences: () => [],
    inverses: /^notes\[\d+\]\.inverse$/,
    findPrograms: () => [],
    findNumbers: () => [],
    groupOf: (signal) =>
      signal
        .replace(
          slotArrays,
          (_, array: string, slot: string) => `${array}[${labelSlot(Number(slot))}]`,
        )
        .replace(/\[\d+\]/g, '[*]'),
  };
}
