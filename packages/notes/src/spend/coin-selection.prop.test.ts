// Coin selection and consolidation against brute force over all subsets.
import { assertField, parseEncryptionPublicKey } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planSpend, type SpendableNote, selectCoins } from './coin-selection.ts';
import { planConsolidation } from './consolidation.ts';

const keys = ['a1', 'a2', 'a3'].map((byte) => parseEncryptionPublicKey(`0x${byte.repeat(32)}`));
const [changeKey] = keys;
if (changeKey === undefined) {
  throw new Error('no keys');
}

type Limits = {
  readonly maxLength: number;
  readonly maxAmount?: bigint;
  readonly keyCount?: number;
};

function notesOf({
  maxLength,
  maxAmount = 30n,
  keyCount = 3,
}: Limits): fc.Arbitrary<SpendableNote[]> {
  const note = fc.record({
    amount: fc.bigInt({ min: 0n, max: maxAmount }),
    encryptionPublicKey: fc.constantFrom(...keys.slice(0, keyCount)),
    isLocked: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  });
  return fc
    .array(note, { maxLength })
    .map((notes) =>
      notes.map((fields, index) => ({ ...fields, commitment: assertField(BigInt(index) + 1n) })),
    );
}

function total(notes: readonly SpendableNote[]): bigint {
  return notes.reduce((sum, { amount }) => sum + amount, 0n);
}

function freeOf(notes: readonly SpendableNote[]): SpendableNote[] {
  return notes.filter(({ isLocked, amount }) => !isLocked && amount > 0n);
}

/** Every selection of free notes of one P, by all subsets. */
function enumerate(notes: readonly SpendableNote[]): SpendableNote[][] {
  return keys.flatMap((key) => {
    const group = freeOf(notes).filter(({ encryptionPublicKey }) => encryptionPublicKey === key);
    return Array.from({ length: 2 ** group.length }, (_, mask) =>
      group.filter((_note, index) => (mask >> index) & 1),
    );
  });
}

describe('selectCoins', () => {
  it('selects the fewest notes with the least change, as trying every subset does', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          notesOf({ maxLength: 11 }),
          // Many notes of few distinct amounts under one key.
          notesOf({ maxLength: 11, maxAmount: 9n, keyCount: 1 }),
        ),
        fc.bigInt({ min: 1n, max: 60n }),
        fc.integer({ min: 1, max: 7 }),
        (notes, amount, maxInputs) => {
          const covering = enumerate(notes).filter(
            (subset) => subset.length <= maxInputs && total(subset) >= amount,
          );
          const fewest = Math.min(...covering.map(({ length }) => length));
          const sums = covering
            .filter(({ length }) => length === fewest)
            .map((subset) => total(subset));
          const selection = selectCoins(notes, amount, maxInputs);
          if (covering.length > 0) {
            expect(selection.kind).toBe('selected');
            if (selection.kind === 'selected') {
              expect(selection.notes).toHaveLength(fewest);
              expect(sums.every((sum) => total(selection.notes) <= sum)).toBe(true);
              expect(selection.changeAmount).toBe(total(selection.notes) - amount);
              expect(new Set(selection.notes).size).toBe(fewest);
              expect(freeOf(notes)).toEqual(expect.arrayContaining([...selection.notes]));
              const selectedKeys = selection.notes.map((note) => note.encryptionPublicKey);
              expect(new Set(selectedKeys).size).toBe(1);
            }
            return;
          }
          const spendable = total(freeOf(notes));
          const possible = enumerate(notes).filter(({ length }) => length <= maxInputs);
          const sumsOfPossible = possible.map((subset) => Number(total(subset)));
          const largestSpend = BigInt(Math.max(...sumsOfPossible));
          expect(selection).toEqual(
            spendable < amount
              ? { kind: 'insufficient', spendable }
              : { kind: 'consolidation-required', spendable, largestSpend },
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('depends on the notes and not on their order', () => {
    fc.assert(
      fc.property(
        notesOf({ maxLength: 12, maxAmount: 5n }).chain((notes) =>
          fc.tuple(
            fc.constant(notes),
            fc.shuffledSubarray(notes, { minLength: notes.length, maxLength: notes.length }),
          ),
        ),
        fc.bigInt({ min: 1n, max: 20n }),
        ([notes, shuffled], amount) => {
          expect(selectCoins(shuffled, amount, 4)).toEqual(selectCoins(notes, amount, 4));
        },
      ),
    );
  });

  it('finds less change with two equal notes and a gap after them', () => {
    const notes = [4n, 10n, 9n, 10n, 6n].map((amount, index) => ({
      commitment: assertField(BigInt(index) + 1n),
      amount,
      encryptionPublicKey: changeKey,
      isLocked: false,
    }));
    const selection = selectCoins(notes, 30n, 4);
    expect(selection).toMatchObject({ kind: 'selected', changeAmount: 0n });
    expect(selection.kind === 'selected' && selection.notes.map(({ amount }) => amount)).toEqual([
      10n,
      10n,
      6n,
      4n,
    ]);
  });

  it('ends at once for a thousand notes, also with 16 inputs', () => {
    const notes = Array.from({ length: 1000 }, (_, index) => ({
      commitment: assertField(BigInt(index) + 1n),
      amount: 1_000_000n + BigInt((index * 7919) % 1009),
      encryptionPublicKey: changeKey,
      isLocked: false,
    }));
    const selection = selectCoins(notes, 15_500_123n, 16);
    expect(selection).toMatchObject({ kind: 'selected' });
    if (selection.kind === 'selected') {
      expect(selection.notes).toHaveLength(16);
      expect(selection.changeAmount).toBeLessThan(510_000n);
    }
  });
});

describe('planSpend', () => {
  it('takes the smallest circuit that holds the recipients and covers the amount', () => {
    fc.assert(
      fc.property(
        notesOf({ maxLength: 20 }),
        fc.bigInt({ min: 1n, max: 200n }),
        fc.integer({ min: 0, max: 9 }),
        (notes, amount, recipients) => {
          const planned = planSpend(notes, amount, recipients);
          if (recipients > 7) {
            expect(planned).toEqual({ kind: 'too-many-recipients', maxRecipients: 7 });
            return;
          }
          const small = selectCoins(notes, amount, 2);
          const large = selectCoins(notes, amount, 16);
          if (recipients <= 3 && small.kind === 'selected') {
            expect(planned).toEqual({ ...small, circuit: 'spend-2x4' });
          } else {
            expect(planned).toEqual(
              large.kind === 'selected' ? { ...large, circuit: 'spend-16x8' } : large,
            );
          }
        },
      ),
    );
  });
});

describe('planConsolidation', () => {
  it('makes the amount spendable at once, from free notes, each used once', () => {
    fc.assert(
      fc.property(
        notesOf({ maxLength: 40 }),
        fc.integer({ min: 2, max: 5 }),
        fc.option(fc.bigInt({ min: 1n, max: 700n }), { nil: undefined }),
        (notes, maxInputs, until) => {
          const spendable = total(freeOf(notes));
          const target = until ?? spendable;
          const options = { maxInputs, changeKey };
          const plan = planConsolidation(
            notes,
            until === undefined ? options : { ...options, until },
          );
          if (spendable < target) {
            expect(plan).toEqual({ kind: 'insufficient', spendable });
            return;
          }
          if (plan.kind !== 'planned') {
            expect.unreachable();
          }
          const used = plan.steps.flatMap((step) => step.notes);
          expect(new Set(used).size).toBe(used.length);
          expect(freeOf(notes)).toEqual(expect.arrayContaining(used));
          // Carry the plan out: what it spends is gone, what it makes is there.
          const outputs: SpendableNote[] = [];
          const spent = new Set<SpendableNote>(used);
          for (const [index, step] of plan.steps.entries()) {
            expect(step.outputsOf.every((earlier) => earlier < index)).toBe(true);
            const inputs = [
              ...step.notes,
              ...step.outputsOf.flatMap((earlier) => outputs[earlier] ?? []),
            ];
            expect(inputs.length).toBeGreaterThan(0);
            expect(inputs.length).toBeLessThanOrEqual(maxInputs);
            expect(new Set(inputs.map((input) => input.encryptionPublicKey)).size).toBe(1);
            expect(step.amount).toBe(total(inputs));
            for (const earlier of step.outputsOf) {
              const output = outputs[earlier];
              expect(output === undefined || spent.has(output)).toBe(false);
              if (output !== undefined) {
                spent.add(output);
              }
            }
            outputs.push({
              commitment: assertField(1000n + BigInt(index)),
              amount: step.amount,
              encryptionPublicKey: changeKey,
              isLocked: false,
            });
          }
          const left = [...notes, ...outputs].filter((note) => !spent.has(note));
          if (target > 0n) {
            expect(selectCoins(left, target, maxInputs).kind).toBe('selected');
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('uses the fewest steps for notes of one P, and starts as many at once as it can', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 2, max: 16 }),
        (count, max) => {
          const notes = Array.from({ length: count }, (_, index) => ({
            commitment: assertField(BigInt(index) + 1n),
            amount: 1n,
            encryptionPublicKey: changeKey,
            isLocked: false,
          }));
          const plan = planConsolidation(notes, { maxInputs: max, changeKey });
          const steps = plan.kind === 'planned' ? plan.steps : [];
          // A step with max inputs reduces the number of notes by max - 1, and max may remain.
          expect(steps).toHaveLength(Math.max(0, Math.ceil((count - max) / (max - 1))));
          const waiting = steps.filter(({ outputsOf }) => outputsOf.length > 0).length;
          expect(count <= max * max ? waiting : 0).toBe(0);
        },
      ),
    );
  });
});
