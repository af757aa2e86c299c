/**
 * Mutants of a small spend circuit with the real hidden signer (3 windows, paths of 4 levels): each lacks a row that belongs to the
 * spend itself. The groups that a single attack cannot show (the flag and the note root of an input, 1 <= v < l, the change's w) have mutants in
 * spend.test.ts and spend-outputs.test.ts, which accept a dishonest spend. Only full runs have this file.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endSnarkjsThreads } from '../witness.ts';
import { readAcceptedList } from './accepted.ts';
import { createMutantFinder, type Finder, type MutantFinder, type RowPattern } from './mutants.ts';
import { createRandom } from './random.ts';
import { describeSpend, spend2x4 } from './spend-circuit.ts';
import { type CompiledSubject, compileSubject } from './subject.ts';

const small = { ...spend2x4, name: 'spend-small', levels: 4, windows: 3, depths: [3] };
const main = `include "spend.circom";
component main {public [D, z, y]} = Spend(2, 4, 4, 3, TAG_OP_2x4());`;

let subject: CompiledSubject;
let finder: MutantFinder;
beforeAll(async () => {
  subject = await compileSubject(describeSpend(small), main);
  finder = createMutantFinder(subject, readAcceptedList('spend'));
}, 300_000);
afterAll(endSnarkjsThreads);

it('nothing is reported of the circuit itself', () => {
  expect(finder.listOwn()).toEqual([]);
}, 300_000);

function sumOf(...contains: readonly RegExp[]): RowPattern {
  return { contains, isProduct: false };
}

const both: readonly Finder[] = ['propagation', 'fuzzer'];
const fuzzerOnly: readonly Finder[] = ['fuzzer'];
// An attack would have to find another path to the same root.
const propagationOnly: readonly Finder[] = ['propagation'];
const mutants: readonly (readonly [string, RowPattern, readonly Finder[]])[] = [
  [
    'the boolean row of a direction',
    { boolean: /^paths\[0\]\.directions\.bits\[1\]$/ },
    propagationOnly,
  ],
  ['the digits of an index', sumOf(/^inputIndices\[0\]$/), both],
  ['the boolean row of a level', { boolean: /^paths\[0\]\.isTop\[1\]$/ }, propagationOnly],
  [
    'the sum of the one-hot vector',
    { contains: [/^paths\[0\]\.isTop\[3\]$/], lacks: /inputDepths|chosen/, isProduct: false },
    propagationOnly,
  ],
  ['the place of the one-hot vector', sumOf(/^inputDepths\[0\]$/), both],
  ['the node of a level', { contains: [/^paths\[0\]\.chosen\[2\]$/], isProduct: true }, fuzzerOnly],
  [
    'the place of a sibling',
    { contains: [/^paths\[0\]\.nodes\[1\]\.inputs\[0\]$/] },
    propagationOnly,
  ],
  ['an S-box of a nullifier', { contains: [/^nullifiers\[0\]\.square\[2\]$/] }, both],
  ['an S-box of a note', { contains: [/^notes\[0\]\.square\[3\]$/] }, both],
  ['an S-box of the change', { contains: [/^change\.square\[3\]$/] }, both],
  ['an S-box of the base of nonces', { contains: [/^base\.square\[1\]$/] }, both],
  ['an S-box of m', { contains: [/^message\.square\[1\]$/] }, both],
  ['an S-box of the wallet id', { contains: [/^wallet\.square\[1\]$/] }, both],
  ['the boolean row of an input’s amount', { boolean: /^ranges\[0\]\.bits\[127\]$/ }, both],
  ['the digits of the change', sumOf(/^changeRange\.bits\[127\]$/), both],
  ['the digits of the withdrawal', sumOf(/^withdrawRange\.bits\[127\]$/), both],
  ['the balance', sumOf(/^changeAmount$/, /^inputAmounts\[0\]$/), fuzzerOnly],
  ['the equality with D', { contains: [/^D$/] }, both],
  ['the equality with y', { contains: [/^y$/] }, both],
];

describe('a mutant lacks', () => {
  it.each(mutants)(
    '%s',
    (_, pattern, finders) => {
      expect(finder.findBy(finder.findRows(pattern))).toEqual(finders);
    },
    180_000,
  );
});

it('finds each of some rows, drawn at random, when it is missing', () => {
  const random = createRandom(20_261_122);
  const missed: number[] = [];
  for (let drawn = 0; drawn < 200; drawn++) {
    const row = random.below(subject.r1cs.constraints);
    if (finder.findFirst([row]) === undefined) {
      missed.push(row);
    }
  }
  expect(missed).toEqual([]);
}, 3_600_000);
