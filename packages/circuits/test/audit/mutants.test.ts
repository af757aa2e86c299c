/**
 * The tools find what they are for: each mutant of a fund circuit lacks one row, and the propagation, the fuzzer or both report more
 * than the committed list. A row that restricts the inputs and no other wire leaves every wire determined: only the fuzzer finds
 * that it is missing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints } from '../constraints.ts';
import { endSnarkjsThreads } from '../witness.ts';
import { readAcceptedList } from './accepted.ts';
import { auditUniqueness } from './audit.ts';
import { describeFund } from './circuits.ts';
import { createMutantFinder, type Finder, type MutantFinder, type RowPattern } from './mutants.ts';
import { createRandom } from './random.ts';
import { createRecompute } from './recompute.ts';
import { createRowSums } from './row-sums.ts';
import { type CompiledSubject, compileSubject } from './subject.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
/** Slot 0 has an amount. Slot 1 has none, wallet 0 and the path of an empty leaf. */
const size = 2;
const main = `include "fund.circom";\ncomponent main {public [D, z, y]} = Fund(${size});`;

let subject: CompiledSubject;
let finder: MutantFinder;
beforeAll(async () => {
  subject = await compileSubject(describeFund(size, 'fund-2'), main);
  finder = createMutantFinder(subject, readAcceptedList('fund'));
});
afterAll(endSnarkjsThreads);

it('nothing is reported of the circuit itself', () => {
  expect(finder.listOwn()).toEqual([]);
}, 180_000);

it('what an attack changes is judged as an evaluation of all rows judges it', () => {
  const { r1cs, witness } = subject;
  const sums = createRowSums(r1cs, witness);
  const rows = Array.from({ length: r1cs.constraints }, (_, row) => row);
  const random = createRandom(20_261_122);
  for (let attempt = 0; attempt < 6; attempt++) {
    const tampered = [...witness];
    const touched = new Set<number>();
    for (let change = 0; change <= 40 * attempt; change++) {
      const wire = 1 + random.below(r1cs.wires - 1);
      tampered[wire] = change % 2 === 0 ? random.fieldElement() : (tampered[wire] ?? 0n) ^ 1n;
      sums.set(wire, tampered[wire], (row) => touched.add(row));
    }
    const broken = findBrokenConstraints(r1cs, tampered);
    expect(broken.length).toBeGreaterThan(0);
    expect(rows.filter((row) => !sums.holds(row))).toEqual(broken);
    expect(broken.filter((row) => !touched.has(row))).toEqual([]);
    sums.reset();
  }
  expect(rows.filter((row) => !sums.holds(row))).toEqual([]);

  const { system, derivations, witness: extended } = auditUniqueness(subject);
  const recompute = createRecompute(system, derivations, createRowSums(system.r1cs, extended));
  const secret = subject.symbols.wireOf('secret');
  const outcome = recompute({ values: new Map([[secret, 5n]]), digits: 'keep' });
  const changed = outcome.kind === 'accepted' ? outcome.changed : new Map<number, bigint>();
  const other = witness.map((value, wire) => changed.get(wire) ?? value);
  expect(other[secret]).toBe(5n);
  expect(findBrokenConstraints(r1cs, other)).toEqual([]);
});

const both: readonly Finder[] = ['propagation', 'fuzzer'];
const fuzzerOnly: readonly Finder[] = ['fuzzer'];
const mutants: readonly (readonly [string, RowPattern, readonly Finder[]])[] = [
  ['a boolean row of an amount', { boolean: /^notes\[0\]\.range\.bits\[17\]$/ }, both],
  ['a boolean row of a leaf index', { boolean: /^notes\[1\]\.path\.index\.bits\[6\]$/ }, both],
  ['the sum of the digits of an amount', sumOf(/^notes\[0\]\.range\.bits/, /^amounts\[0\]$/), both],
  ['the sum of the digits of the total', sumOf(/^totalRange\.bits/, /^total$/), both],
  ['the sum of the digits of a leaf index', sumOf(/index\.bits/, /^leafIndices\[0\]$/), both],
  ['an S-box of a commitment', { contains: [/^notes\[0\]\.note\.square\[3\]$/] }, both],
  ['the place of a sibling', { contains: [/^notes\[1\]\.path\.nodes\[4\]\.inputs\[1\]$/] }, both],
  ['the equality with D', { contains: [/^D$/] }, both],
  ['the equality with y', { contains: [/^y$/] }, both],
  [
    'the equality of an eligibility root',
    { contains: [/^eligibilityRoot$/, /^notes\[0\]\.path/, /^amounts\[0\]$/] },
    fuzzerOnly,
  ],
  ['the sum of the amounts', sumOf(/^total$/, /^amounts\[0\]$/), fuzzerOnly],
  ['the rule about wallet 0', { contains: [/^amounts\[1\]$/, /isNonZero$/] }, fuzzerOnly],
  [
    'the product behind the rule about wallet 0',
    { contains: [/^notes\[1\]\.inverse$/] },
    fuzzerOnly,
  ],
];

function sumOf(...contains: readonly RegExp[]): RowPattern {
  return { contains, isProduct: false };
}

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
  for (let drawn = 0; drawn < (isFullRun ? 400 : 20); drawn++) {
    const row = random.below(subject.r1cs.constraints);
    if (finder.findFirst([row]) === undefined) {
      missed.push(row);
    }
  }
  expect(missed).toEqual([]);
}, 3_600_000);
