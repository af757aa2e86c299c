/**
 * Each rule of the propagation on a circuit of a few rows: it determines what the rows determine, and it does not determine what
 * they leave open. The second half matters more: a rule that claims too much hides an underconstrained wire.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { type CompiledTest, compileTest, endSnarkjsThreads } from '../witness.ts';
import { propagate } from './propagate.ts';
import { computeRanges } from './ranges.ts';
import { createSystem } from './system.ts';

afterAll(endSnarkjsThreads);

/** @param body of a template whose inputs are `x` and `y` */
async function compileBody(body: string): Promise<CompiledTest> {
  return await compileTest(`
    template T() { signal input x; signal input y; ${body} }
    component main {public [x, y]} = T();`);
}

function namesOf({ namesOf: names }: CompiledTest, wires: readonly number[]): string[] {
  return wires.map((wire) => names.get(wire)?.[0] ?? '?').sort();
}

async function findUndetermined(body: string): Promise<string[]> {
  const circuit = await compileBody(body);
  const inputs = [circuit.wireOf('x'), circuit.wireOf('y')];
  const { undetermined } = propagate(createSystem(circuit.r1cs), inputs);
  return namesOf(circuit, undetermined);
}

/** Digits of x: `bits[i]` are booleans unless listed. */
function digits(
  count: number,
  weight: (i: number) => string,
  except: readonly number[] = [],
): string {
  const bits = Array.from({ length: count }, (_, i) => i);
  return `
    signal bits[${count}];
    ${bits.map((i) => `bits[${i}] <-- (x >> ${i}) & 1;`).join('\n')}
    ${bits
      .filter((i) => !except.includes(i))
      .map((i) => `bits[${i}] * (bits[${i}] - 1) === 0;`)
      .join('\n')}
    ${bits.map((i) => `${weight(i)} * bits[${i}]`).join(' + ')} === x;`;
}

const allBits = ['bits[0]', 'bits[1]', 'bits[2]', 'bits[3]'];
function power(i: number): string {
  return `2 ** ${i}`;
}

describe('what the rows determine', () => {
  it.each([
    ['products and sums of known wires', 'signal s <== x * y; signal t <== s * s + 3 * x;'],
    ['binary digits', digits(4, power)],
    ['digits with negative weights', digits(4, (i) => `${i === 3 ? '-' : ''}2 ** ${i}`)],
    ['digits up to 253 bits', digits(253, power)],
    [
      'limbs, and the bits of each limb',
      `signal limbs[2]; signal bits[2][3];
       limbs[0] <-- x & 7; limbs[1] <-- (x >> 3) & 7;
       x === limbs[0] + 8 * limbs[1];
       for (var i = 0; i < 2; i++) {
         var sum = 0;
         for (var j = 0; j < 3; j++) {
           bits[i][j] <-- (limbs[i] >> j) & 1;
           bits[i][j] * (bits[i][j] - 1) === 0;
           sum = sum + 2 ** j * bits[i][j];
         }
         limbs[i] === sum;
       }`,
    ],
    [
      'three unknowns of three sums',
      `signal p[3];
       for (var i = 0; i < 3; i++) { p[i] <-- i; }
       for (var s = 1; s < 4; s++) {
         (x + s) * (y + s) === p[0] + s * p[1] + s * s * p[2];
       }`,
    ],
    [
      'a sum of booleans after elimination of an unbounded wire',
      `signal a; signal b; signal free;
       a <-- 0; b <-- 0; free <-- 0;
       a * (a - 1) === 0; b * (b - 1) === 0;
       x === a + free; y === 2 * b + free;`,
    ],
    [
      'a one-hot selection',
      `signal s[3];
       for (var i = 0; i < 3; i++) { s[i] <-- x == i; s[i] * (x - i) === 0; }
       s[0] + s[1] + s[2] === 1;`,
    ],
  ])('%s', async (_, body) => {
    expect(await findUndetermined(body)).toEqual([]);
  });

  it('the result of a zero test, but not its inverse', async () => {
    const body = `
      signal inverse <-- x != 0 ? 1 / x : 0;
      signal out <-- x == 0;
      x * inverse === 1 - out;
      x * out === 0;`;
    expect(await findUndetermined(body)).toEqual(['inverse']);
  });
});

describe('what the rows leave open', () => {
  it.each([
    ['a digit without its boolean row', digits(4, power, [2]), allBits],
    ['digits of equal weight', digits(4, (i) => `2 ** ${i === 3 ? 2 : i}`), allBits],
    ['a square root', 'signal s <-- x; s * s === x;', ['s']],
    ['a quotient by a wire that may be zero', 'signal s <-- x / y; s * y === x;', ['s']],
    ['a hint that only another hint reads', 'signal s <-- x; signal t <== s * s;', ['s', 't']],
    [
      'a zero test without its second row',
      'signal inverse <-- x; signal out <-- 1 - x * x; x * inverse === 1 - out;',
      ['inverse', 'out'],
    ],
    [
      'a zero test of another wire',
      `signal inverse <-- x; signal out <-- 1 - x * x;
       x * inverse === 1 - out; y * out === 0;`,
      ['inverse', 'out'],
    ],
    [
      'a selection with two equal places',
      `signal s[3];
       for (var i = 0; i < 3; i++) { s[i] <-- 0; s[i] * (x - (i == 2 ? 1 : i)) === 0; }
       s[0] + s[1] + s[2] === 1;`,
      ['s[0]', 's[1]', 's[2]'],
    ],
    [
      'a selection without its sum',
      'signal s[2]; for (var i = 0; i < 2; i++) { s[i] <-- 0; s[i] * (x - i) === 0; }',
      ['s[0]', 's[1]'],
    ],
    [
      'three unknowns of three sums that depend on each other',
      `signal p[3];
       for (var i = 0; i < 3; i++) { p[i] <-- i; }
       p[0] + p[1] === x; p[1] + p[2] === y; p[0] + 2 * p[1] + p[2] === x + y;`,
      ['p[0]', 'p[1]', 'p[2]'],
    ],
  ])('%s', async (_, body, open) => {
    expect(await findUndetermined(body)).toEqual(open);
  });

  it('254 binary digits: a small number has the digits of itself and of itself plus r', async () => {
    expect(await findUndetermined(digits(254, power))).toHaveLength(254);
  });
});

describe('ranges', () => {
  async function readRange(body: string, name: string) {
    const circuit = await compileBody(body);
    return computeRanges(createSystem(circuit.r1cs))[circuit.wireOf(name)];
  }

  it('follow from booleans through sums and products', async () => {
    const booleans = `
      signal a <-- x; signal b <-- y;
      a * (a - 1) === 0; b * (b - 1) === 0;`;
    expect(await readRange(`${booleans} signal s <== 5 * a - 2 * b + 1;`, 's')).toEqual({
      low: -1n,
      high: 6n,
    });
    expect(await readRange(`${booleans} signal s <== (a + 3) * (b - 2);`, 's')).toEqual({
      low: -8n,
      high: -3n,
    });
  });

  it('do not follow from other quadratic rows, nor from a sum that wraps around r', async () => {
    expect(await readRange('signal a <-- x; a * (a - 2) === 0;', 'a')).toBeUndefined();
    expect(await readRange('signal a <-- x; a * (y - 1) === 0;', 'a')).toBeUndefined();
    const wide = digits(254, power);
    expect(await readRange(wide, 'x')).toBeUndefined();
  });
});
