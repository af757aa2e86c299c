// The history of a holder's notes: what came in, what went out with its change, and the running balance.
import { assertField, bigintToHex32 } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildHistory } from './build-history.ts';
import { createOwnNotes } from './own-notes.ts';
import type { OwnNote, StoredSpend } from './ports.ts';

const assetId = assertField(99n);
function rootOf(leafIndex: number) {
  return bigintToHex32(BigInt(1_000 + leafIndex));
}

function note(leafIndex: number, slot: number, amount: bigint, memo?: string): OwnNote {
  const name = assertField(BigInt(100 * leafIndex + slot + 1));
  return {
    ...{ leafIndex, slot, amount, memo, assetId, commitment: name, nonce: name, nullifier: name },
    txHash: bigintToHex32(BigInt(leafIndex)),
    blockNumber: 10 + leafIndex,
  };
}

function spend(leafIndex: number, ...notes: readonly OwnNote[]): StoredSpend {
  const txHash = bigintToHex32(BigInt(leafIndex));
  const nullifiers = [...notes.map(({ nullifier }) => nullifier), assertField(5n)];
  return { leafIndex, nullifiers, txHash, blockNumber: 10 + leafIndex };
}

function build(notes: readonly OwnNote[], spends: readonly StoredSpend[], foreign: number[] = []) {
  const own = createOwnNotes();
  own.add(notes);
  for (const one of spends) {
    own.markSpent(one);
  }
  const leaves = new Set([...spends.map(({ leafIndex }) => leafIndex), ...foreign]);
  return buildHistory(
    own.listCounted(assetId).map((one) => ({ note: one, spend: own.findSpend(one) })),
    (leafIndex) => ({ root: rootOf(leafIndex), isSpend: leaves.has(leafIndex) }),
  );
}

describe('the history of a holder', () => {
  it('is what came in, what was spent with its change, and the balance after each', () => {
    const [may, june] = [note(0, 3, 5n, 'May'), note(1, 0, 7n)];
    expect(build([may, june, note(2, 0, 4n)], [spend(2, may, june)])).toMatchObject([
      { kind: 'received', id: '0.3', amount: 5n, memo: 'May', balance: 5n, isChange: false },
      { kind: 'received', id: '1.0', amount: 7n, balance: 12n, isChange: false },
      { kind: 'spent', id: '2', spent: 12n, change: 4n, balance: 4n, outRoot: rootOf(2) },
    ]);
  });

  it('has a spend without change, and a note from the spend of another holder', () => {
    const first = note(0, 0, 5n);
    expect(build([first, note(2, 1, 3n)], [spend(1, first)], [2])).toMatchObject([
      { id: '0.0', balance: 5n },
      { id: '1', spent: 5n, change: 0n, balance: 0n },
      { id: '2.1', amount: 3n, isChange: false, balance: 3n },
    ]);
  });

  it('names change of a spend whose notes are unknown', () => {
    expect(build([note(4, 0, 9n)], [], [4])).toMatchObject([
      { kind: 'received', amount: 9n, isChange: true, balance: 9n },
    ]);
  });

  it('puts what a holder paid to itself after the spend', () => {
    const first = note(0, 0, 5n);
    const paid = build([first, note(1, 2, 2n), note(1, 0, 3n)], [spend(1, first)]);
    expect(paid.map(({ id, balance }) => [id, balance])).toEqual([
      ['0.0', 5n],
      ['1', 3n],
      ['1.2', 5n],
    ]);
  });

  it('counts only the largest of several notes with one nullifier, as the balance does', () => {
    const [small, large] = [note(0, 0, 5n), note(1, 0, 8n)];
    const twins = build([small, { ...large, nullifier: small.nullifier }], []);
    expect(twins.map(({ balance }) => balance)).toEqual([8n]);
  });

  it('ends with the balance, whatever happened', () => {
    const script = fc.array(
      fc.record({ slot: fc.nat(3), amount: fc.bigInt(1n, 1_000n), spends: fc.nat(3) }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(script, (steps) => {
        const notes: OwnNote[] = [];
        const spends: StoredSpend[] = [];
        const unspent: OwnNote[] = [];
        for (const [leafIndex, step] of steps.entries()) {
          const used = unspent.splice(0, step.spends);
          const made = note(leafIndex, used.length > 0 ? 0 : step.slot, step.amount);
          spends.push(...(used.length > 0 ? [spend(leafIndex, ...used)] : []));
          notes.push(made);
          unspent.push(made);
        }
        const total = unspent.reduce((sum, { amount }) => sum + amount, 0n);
        expect(build(notes, spends).at(-1)?.balance ?? 0n).toBe(total);
      }),
    );
  });
});
