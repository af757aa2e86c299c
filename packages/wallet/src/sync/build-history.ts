/**
 * What happened to a holder's notes of one asset, as movements in the order of the chain. Pure. A movement is money that came in, or one
 * spend of the holder's own notes: the notes that it used up, less its change.
 *
 * @module
 */
import { fieldToHex, type Hex32 } from '@pool/core';
import type { OwnNote, StoredSpend } from './ports.ts';

/** A note that counts, with the spend that used it up, if one did. */
export type HistoricNote = { readonly note: OwnNote; readonly spend: StoredSpend | undefined };

/** What the history needs of a leaf of the note tree. */
export type HistoricLeaf = { readonly root: Hex32; readonly isSpend: boolean };

type Place = {
  /** Names the movement for good: the index of its leaf, and for a received note a point and its slot. */
  readonly id: string;
  /** Index of the leaf. */
  readonly index: number;
  readonly txHash: Hex32;
  readonly blockNumber: number;
  /** Base units that the holder has after the movement. */
  readonly balance: bigint;
};

/** One movement. Confidential. */
export type Movement = Place &
  (
    | {
        readonly kind: 'received';
        /** Base units. */
        readonly amount: bigint;
        /** The payer's text, unescaped. */
        readonly memo: string | undefined;
        readonly slot: number;
        readonly commitment: Hex32;
        /** True: the change of a spend whose inputs this store does not have, for example of an earlier key. */
        readonly isChange: boolean;
      }
    | {
        readonly kind: 'spent';
        /** Base units of the notes that were used up. */
        readonly spent: bigint;
        /** Base units that came back to the holder in the same transaction. */
        readonly change: bigint;
        /** The spend's own name. */
        readonly outRoot: Hex32;
      }
  );

/** @param notes - of one asset, in any order */
export function buildHistory(
  notes: readonly HistoricNote[],
  readLeaf: (leafIndex: number) => HistoricLeaf,
): readonly Movement[] {
  const spends = new Map<number, Extract<Movement, { kind: 'spent' }>>();
  for (const { note, spend } of notes) {
    if (spend !== undefined) {
      const { leafIndex: index, txHash, blockNumber } = spend;
      const known = spends.get(index);
      const outRoot = known?.outRoot ?? readLeaf(index).root;
      const place = { id: `${index}`, index, txHash, blockNumber, balance: 0n };
      const sums = { spent: (known?.spent ?? 0n) + note.amount, change: 0n };
      spends.set(index, { kind: 'spent', ...place, ...sums, outRoot });
    }
  }
  const movements: Movement[] = [];
  for (const { note } of notes) {
    const { leafIndex: index, slot, txHash, blockNumber, amount, memo } = note;
    const own = spends.get(index);
    if (slot === 0 && own !== undefined) {
      spends.set(index, { ...own, change: amount });
      continue;
    }
    const place = { id: `${index}.${slot}`, index, txHash, blockNumber, balance: 0n };
    const commitment = fieldToHex(note.commitment);
    // Slot 0 of a spend has the wallet of its inputs.
    const isChange = slot === 0 && readLeaf(index).isSpend;
    movements.push({ kind: 'received', ...place, amount, memo, slot, commitment, isChange });
  }
  return order([...movements, ...spends.values()]);
}

/** With the balance after each. */
function order(movements: readonly Movement[]): readonly Movement[] {
  let balance = 0n;
  const ordered = [...movements].sort(
    (left, right) => left.index - right.index || slotOf(left) - slotOf(right),
  );
  return ordered.map((movement) => {
    balance += movement.kind === 'received' ? movement.amount : movement.change - movement.spent;
    return { ...movement, balance };
  });
}

/** A spend comes before the notes that the holder paid to itself in it. */
function slotOf(movement: Movement): number {
  return movement.kind === 'received' ? movement.slot : -1;
}

/**
 * The movements of several note stores of one holder as one history. A spend that used up notes of one P pays its change to another one
 * after a rotation: the two sides are in two stores, and are one movement.
 */
export function joinMovements(lists: readonly (readonly Movement[])[]): readonly Movement[] {
  const all = lists.flat();
  const spends = new Map(
    all.flatMap((movement) =>
      movement.kind === 'spent' ? [[movement.index, movement] as const] : [],
    ),
  );
  const others: Movement[] = [];
  for (const movement of all) {
    if (movement.kind === 'spent') {
      continue;
    }
    const spend = movement.isChange ? spends.get(movement.index) : undefined;
    if (spend === undefined) {
      others.push(movement);
    } else {
      spends.set(movement.index, { ...spend, change: spend.change + movement.amount });
    }
  }
  return order([...others, ...spends.values()]);
}
