/** The sizes on which the hidden signer's argument rests: of slopes, of coefficients, and of what follows from them. */
import { afterAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { R } from '../test/fund-batch.ts';
import { P } from '../test/hidden-signer.ts';
import { laxChecks, nameComponents } from '../test/lax-checks.ts';
import { evaluate, mainOf, sampleLimbs, toLimbs } from '../test/limbs.ts';
import { invert, reduce } from '../test/modular.ts';
import {
  compileTest,
  computeWitness,
  endSnarkjsThreads,
  transferWitness,
} from '../test/witness.ts';

afterAll(endSnarkjsThreads);

describe('the range of a slope', () => {
  it('is needed: limbs of any size pass for a slope that they are not', async () => {
    const main = `include "secp256k1-zero.circom";
      template Slope() {
        signal input lambda[8];
        signal input t[4];
        signal input x[8];
        signal input low[2];
        signal input high[2];
        component ranges[8];
        component chord = Chord();
        component zero = ZeroModP(0, 1);
        for (var i = 0; i < 8; i++) {
          ranges[i] = InRange(32, 1 << 31);
          ranges[i].value <== lambda[i];
        }
        chord.lambda <== lambda;
        chord.t <== t;
        chord.x <== x;
        zero.first <== chord.product;
        for (var i = 0; i < 15; i++) { zero.second[i] <== 0; }
        zero.low <== low;
        zero.high <== high;
      }
      component main = Slope();`;
    const x = sampleLimbs('x', 8, 32);
    const t = sampleLimbs('t', 4, 64);
    const [low = 0n] = sampleLimbs('low', 1, 160);
    const [high = 0n] = sampleLimbs('high', 1, 96);
    // Only the two lowest limbs, chosen so that quotient and carry are 0: two linear equations modulo r.
    const run = t.flatMap((limb) => [limb, 0n]).map((limb, i) => limb - (x[i] ?? 0n));
    const top = run[7] ?? 0n;
    const folded = [0n + 977n * top, (run[0] ?? 0n) + top, ...run.slice(1, 7)];
    const [a, b] = [run.slice(0, 5), folded.slice(0, 5)].map(evaluate);
    const [c, d] = [run, folded].map(evaluate);
    const total = low + (high << 160n);
    const determinant = reduce((a ?? 0n) * (d ?? 0n) - (b ?? 0n) * (c ?? 0n), R);
    const scale = invert(determinant, R);
    const lambda = toLimbs(0n, 8)
      .with(0, reduce((low * (d ?? 0n) - (b ?? 0n) * total) * scale, R))
      .with(1, reduce(((a ?? 0n) * total - low * (c ?? 0n)) * scale, R));

    const circuit = await compileTest(main);
    const lax = await compileTest(main, ...laxChecks);
    const input = { lambda, t, x, low: [low, 0n], high: [high, 0n] };
    const witness = transferWitness(await computeWitness(lax.wasm, input), lax, circuit);
    const broken = findBrokenConstraints(circuit.r1cs, witness);
    expect(nameComponents(circuit, broken)).toEqual(['ranges[0]', 'ranges[1]']);
  });
});

describe('bounds of coefficients', () => {
  const windows = 31;
  const signal = (name: string) => `signal output ${name}[${windows + 1}][15];`;
  const main = `include "secp256k1-sum.circom";
    template Bounds() {
      ${signal('x')} ${signal('chord')}
      for (var k = 0; k <= ${windows}; k++) {
        for (var j = 0; j < 15; j++) {
          x[k][j] <== j < 8 ? boundOfX(j, k) : 0;
          chord[k][j] <== boundOfChord(j, k);
        }
      }
    }
    component main = Bounds();`;

  function multiply(a: readonly bigint[], b: readonly bigint[]): bigint[] {
    const product = toLimbs(0n, a.length + b.length - 1);
    a.forEach((left, i) => {
      b.forEach((right, j) => {
        product[i + j] = (product[i + j] ?? 0n) + left * right;
      });
    });
    return product;
  }

  it('are those of the largest slopes and points, by interval arithmetic', async () => {
    const { wasm } = await compileTest(main);
    const witness = await computeWitness(wasm, {});
    const lambda = toLimbs(0n, 8).map(() => 1n << 31n);
    const t = [0, 1, 2, 3].flatMap(() => [1n << 64n, 0n]);
    const square = multiply(lambda, lambda);
    let x = toLimbs(0n, 8).map(() => 1n << 32n);
    for (let k = 0; k <= windows; k++) {
      const row = 1 + 15 * k;
      expect(witness.slice(row, row + 15)).toEqual([...x, ...toLimbs(0n, 7)]);
      const difference = x.map((bound, i) => bound + (t[i] ?? 0n));
      const chord = 1 + 15 * (windows + 1) + 15 * k;
      expect(witness.slice(chord, chord + 15)).toEqual(multiply(lambda, difference));
      // X^8 = X + 977
      x = difference.map((bound, i) => {
        const direct = square[i] ?? 0n;
        const fold = 977n * (i < 7 ? (square[8 + i] ?? 0n) : 0n);
        return bound + direct + fold + (i > 0 ? (square[7 + i] ?? 0n) : 0n);
      });
    }
  });

  it.each([1n, -1n])('leave room for the largest coefficients of sign %s', async (sign) => {
    const k = windows - 1;
    const bounds = (await computeWitness((await compileTest(main)).wasm, {})).slice(
      1 + 15 * (windows + 1 + k),
      1 + 15 * (windows + 2 + k),
    );
    const first = bounds.map((bound) => sign * bound);
    const second = [...first];
    const value = evaluate(first) * 2n;
    // Down to the next multiple of p, in the eight lowest coefficients.
    toLimbs(reduce(sign * value, P), 8).forEach((limb, i) => {
      second[i] = (second[i] ?? 0n) - sign * limb;
    });
    const mainLast = mainOf('secp256k1-zero.circom', `ZeroModP(${k}, 2)`);
    const circuit = await compileTest(mainLast);
    const witness = await computeWitness(circuit.wasm, {
      first: first.map((limb) => reduce(limb, R)),
      second: second.map((limb) => reduce(limb, R)),
      low: [0n, 0n],
      high: [0n, 0n],
    });
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
  });
});
