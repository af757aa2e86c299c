/**
 * What the audit must know about each circuit besides its rows: an honest input, which wires are the public vector, and what the
 * sources leave open on purpose.
 */
import { invert } from '../../src/modular.ts';
import { createBatch, R, toInput } from '../fund-batch.ts';

export type AuditedCircuit = {
  readonly name: string;
  /** Template of the main component. */
  readonly template: string;
  readonly createInput: () => unknown;
  /** Public inputs that the private ones determine: the audit derives them and does not take them as given. */
  readonly derivedInputs: readonly string[];
  /** Names of the public vector x, one expression for each form of name. Also the derived inputs are protected. */
  readonly vector: readonly RegExp[];
  /** How an honest prover computes hints that no row determines. */
  readonly programs: readonly {
    readonly hint: RegExp;
    readonly reads: (match: RegExpExecArray) => readonly string[];
    readonly compute: (values: readonly bigint[]) => bigint;
  }[];
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
    vector: [/^(assetId|total|batchId|eligibilityRoot|batch\.root)$/, /^batch\.leaves\[\d+\]$/],
    programs: [
      {
        hint: /^notes\[(\d+)\]\.inverse$/,
        reads: ([, slot]) => [`walletIds[${slot}]`],
        compute: ([walletId = 0n]) => (walletId === 0n ? 0n : invert(walletId, R)),
      },
    ],
    groupOf: (signal) =>
      signal
        .replace(
          slotArrays,
          (_, array: string, slot: string) => `${array}[${labelSlot(Number(slot))}]`,
        )
        .replace(/\[\d+\]/g, '[*]'),
  };
}
