/**
 * The audit of the hidden-signer gadget, alone with 31 windows, and of mutants of it with 3 windows. Its input makes W' and m' so small
 * that a second, non-canonical representation fits: only AtMost refuses that one. Full runs audit the gadget alone; every run audits it in
 * spend-2x4 (spend-audit.test.ts), and the mutants.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endSnarkjsThreads } from '../witness.ts';
import { findDifferences, readAcceptedList } from './accepted.ts';
import { auditUniqueness, auditWitness } from './audit.ts';
import { createMutantFinder, type Finder, type MutantFinder, type RowPattern } from './mutants.ts';
import { formatReport } from './report.ts';
import { describeSigner } from './signer-circuit.ts';
import { type CompiledSubject, compileSubject } from './subject.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const seconds = 600;
const seed = 20_261_122;
const accepted = readAcceptedList('hidden-signer');

afterAll(endSnarkjsThreads);

async function compile(windows: number): Promise<CompiledSubject> {
  const main = `include "hidden-signer.circom";\ncomponent main = HiddenSigner(${windows});`;
  return await compileSubject(describeSigner(windows), main);
}

describe.skipIf(!isFullRun)('the gadget alone', () => {
  it("determines W' and m' with the listed lemmas, and accepts no attack but the listed ones", async () => {
    const subject = await compile(31);
    const propagation = auditUniqueness(subject);
    const fuzzed = auditWitness(subject, propagation, {
      seed,
      seconds,
      atLeast: { hints: 500, inputs: 60 },
    });
    console.info(formatReport(subject, propagation, fuzzed));
    expect(fuzzed.uncovered).toEqual([]);
    expect(findDifferences(accepted, propagation, fuzzed)).toEqual([]);
  }, 900_000);
});

it('recomputes every hint of the honest witness', async () => {
  const subject = await compile(3);
  const { witness, symbols, circuit } = subject;
  for (const { wire, reads, compute } of circuit.findPrograms(symbols)) {
    const value = compute(reads.map((read) => witness[read] ?? 0n));
    expect(`${symbols.nameOf(wire)} = ${value}`).toBe(`${symbols.nameOf(wire)} = ${witness[wire]}`);
  }
});

const both: readonly Finder[] = ['propagation', 'fuzzer'];
const propagationOnly: readonly Finder[] = ['propagation'];
const fuzzerOnly: readonly Finder[] = ['fuzzer'];
const mutants: readonly (readonly [string, RowPattern, readonly Finder[]])[] = [
  ['a boolean row of a slope', { boolean: /^slopes\[1\]\[2\]\.bits\[7\]$/ }, both],
  ["a boolean row of W'", { boolean: /^shifted\.words\[0\]\.bits\[40\]$/ }, both],
  ['the last digit of a carry', digitsOf(/^zeros\[1\]\.carryRange\.bits/), both],
  ['the last digit of a quotient', digitsOf(/^zeros\[1\]\.qRange\.bits/), both],
  [
    'a point of the square of a slope',
    { contains: [/^xs\[0\]\.high\[3\]$/], isProduct: true },
    propagationOnly,
  ],
  [
    'a point of the product of a chord',
    { contains: [/^nearChords\[1\]\.product\[3\]$/], isProduct: true },
    propagationOnly,
  ],
  ['the quotient by p', { contains: [/^zeros\[2\]\.q$/], lacks: /qRange|carry/ }, propagationOnly],
  ['the carry of a sum', { contains: [/^zeros\[2\]\.carry$/], lacks: /carryRange/ }, both],
  ["the canonical x of W'", atMost('shifted\\.words\\[0\\]\\.range'), fuzzerOnly],
  ["the canonical m'", atMost('digestWord\\.range'), fuzzerOnly],
  ['the canonical m', atMost('digestRange'), fuzzerOnly],
];

/** The row that makes the last digit of a range a boolean: all digits are in it. */
function digitsOf(name: RegExp): RowPattern {
  const at = (index: number) => new RegExp(`${name.source}\\[${index}\\]$`);
  return { contains: [at(0), at(1)], isProduct: true };
}

/** All rows of a comparison that refuse something. */
function atMost(path: string): RowPattern {
  return {
    contains: [new RegExp(`^${path}\\.differs`)],
    lacks: /inverse/,
    isProduct: true,
    every: true,
  };
}

describe('a mutant lacks', () => {
  let finder: MutantFinder;
  beforeAll(async () => {
    finder = createMutantFinder(await compile(3), accepted);
  });

  it('nothing: the tools report nothing', () => {
    expect(finder.listOwn()).toEqual([]);
  }, 180_000);

  it.each(mutants)(
    '%s',
    (_, pattern, finders) => {
      expect(finder.findBy(finder.findRows(pattern))).toEqual(finders);
    },
    180_000,
  );
});
