import { assertField, type Field, zeroField } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeEligibilityRootFromPath,
  createEligibilityTree,
  type EligibilitySnapshot,
} from './eligibility-tree.ts';

const walletId = fc.bigInt({ min: 1n, max: 12n }).map(assertField);
const step = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), walletId }),
  fc.record({ kind: fc.constant('remove' as const), walletId }),
  fc.record({ kind: fc.constant('read' as const), walletId }),
);

describe('the eligibility tree', () => {
  it('equals a newly built tree after any history, all its paths lead to its root, and snapshots stay', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const tree = createEligibilityTree();
        const model: Field[] = [];
        const taken: { readonly snapshot: EligibilitySnapshot; readonly leaves: Field[] }[] = [];
        for (const { kind, walletId: id } of steps) {
          const place = model.indexOf(id);
          if (kind === 'insert') {
            const empty = model.includes(zeroField) ? model.indexOf(zeroField) : model.length;
            expect(tree.insert(id)).toBe(place === -1 ? empty : place);
            model[place === -1 ? empty : place] = id;
          } else if (kind === 'remove') {
            expect(tree.remove(id)).toBe(place !== -1);
            if (place !== -1) {
              model[place] = zeroField;
            }
          } else {
            expect(tree.has(id)).toBe(place !== -1);
            taken.push({ snapshot: tree.snapshot(), leaves: [...model] });
          }
        }
        expect(tree.root).toBe(createEligibilityTree(model).root);
        for (const { snapshot, leaves } of taken) {
          const same = createEligibilityTree(leaves);
          expect(snapshot.root).toBe(same.root);
          leaves.forEach((leaf, index) => {
            expect(snapshot.leafAt(index)).toBe(leaf);
            if (leaf !== 0n) {
              expect(snapshot.pathAt(index)).toEqual(same.path(leaf));
            }
          });
        }
        for (const id of model.filter((leaf) => leaf !== 0n)) {
          expect(computeEligibilityRootFromPath(id, tree.path(id))).toBe(tree.root);
        }
      }),
      { numRuns: 30 },
    );
  });
});
