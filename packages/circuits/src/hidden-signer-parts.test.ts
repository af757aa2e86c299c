/** The templates of the hidden-signer gadget one by one: what each accepts, and that it accepts nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { R, sample } from '../test/fund-batch.ts';
import { N, P } from '../test/hidden-signer.ts';
import { laxChecks, nameComponents } from '../test/lax-checks.ts';
import { evaluate, mainOf, sampleLimbs, toLimbs } from '../test/limbs.ts';
import { invert, reduce } from '../test/modular.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
  transferWitness,
} from '../test/witness.ts';
import { sourceFolder } from './circuits.ts';
import type { R1cs } from './constraints/r1cs.ts';

beforeAll(() => {
  // The witness generator reports refused inputs there as well as by throwing.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterAll(endSnarkjsThreads);

/** The rank modulo r of C's columns of these wires, over all rows. */
function computeRank({ c, constraints, coefficients }: R1cs, wires: readonly number[]): number {
  let rows = Array.from({ length: constraints }, (_, row) => {
    const values = wires.map(() => 0n);
    for (let term = c.rowStart[row] ?? 0; term < (c.rowStart[row + 1] ?? 0); term++) {
      const column = wires.indexOf(c.wire[term] ?? 0);
      if (column >= 0) {
        values[column] = coefficients[c.coefficient[term] ?? 0] ?? 0n;
      }
    }
    return values;
  });
  let rank = 0;
  for (let column = 0; column < wires.length; column++) {
    const pivot = rows.find((values) => values[column] !== 0n);
    if (pivot === undefined) continue;
    rank++;
    const scale = invert(pivot[column] ?? 1n, R);
    rows = rows
      .filter((values) => values !== pivot)
      .map((values) => {
        const factor = ((values[column] ?? 0n) * scale) % R;
        return values.map((value, i) => reduce(value - factor * (pivot[i] ?? 0n), R));
      });
  }
  return rank;
}

/** Wires of the signals with these names, as arrays. */
function wiresOf({ namesOf }: CompiledTest, ...prefixes: readonly string[]): number[] {
  return [...namesOf]
    .filter(([, names]) => names.some((name) => prefixes.includes(name.replace(/\[.*/, ''))))
    .map(([wire]) => wire);
}

describe('tables of multiples of G', () => {
  it('hold the polynomials of all 31 · 256 points', () => {
    const path = join(sourceFolder(), 'generated', 'secp256k1-windows.circom');
    const tables = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /^ +-?0x/.test(line))
      .map((line) => line.match(/-?0x[0-9a-f]+/g) ?? [])
      .map((row) => row.map((hex) => (hex.startsWith('-') ? -BigInt(hex.slice(1)) : BigInt(hex))));
    expect(tables).toHaveLength(31 * 6);
    let step = secp256k1.Point.BASE;
    for (let window = 0; window < 31; window++) {
      const points = [step];
      while (points.length < 256) {
        points.push((points.at(-1) ?? step).add(step));
      }
      step = points.at(-1) ?? step;
      const affine = points.map((point) => point.toAffine());
      const expected = [
        ...[0n, 64n, 128n, 192n].map((shift) =>
          affine.map(({ x }) => BigInt.asUintN(64, x >> shift)),
        ),
        affine.map(({ y }) => BigInt.asUintN(160, y)),
        affine.map(({ y }) => y >> 160n),
      ];
      const outputs = tables.slice(6 * window, 6 * window + 6);
      for (const values of outputs) {
        // The value at each digit: the sum over the subsets of its bits.
        for (let bit = 1; bit < 256; bit *= 2) {
          values.forEach((value, digit) => {
            if (digit & bit) values[digit] = value + (values[digit - bit] ?? 0n);
          });
        }
      }
      expect(outputs).toEqual(expected);
    }
  });
});

describe('InRange(3, 4)', () => {
  it('accepts exactly the integers -4 to 3', async () => {
    const { r1cs } = await compileTest(mainOf('comparison.circom', 'InRange(3, 4)'));
    expect(r1cs).toMatchObject({ constraints: 3, wires: 4 });
    const accepted = new Set<bigint>();
    const digits = [0n, 1n, 2n, R - 1n];
    for (let value = -20n; value <= 20n; value++) {
      for (const low of digits) {
        for (const high of digits) {
          const witness = [1n, reduce(value, R), low, high];
          if (findBrokenConstraints(r1cs, witness).length === 0) accepted.add(value);
        }
      }
    }
    expect([...accepted]).toEqual([-4n, -3n, -2n, -1n, 0n, 1n, 2n, 3n]);
  });
});

describe('AtMost', () => {
  /** All choices of the hints `differs` from some values, with the inverses that they need. */
  function* listHints(
    limit: bigint,
    value: bigint,
    choices: readonly bigint[],
  ): Generator<Map<string, bigint>> {
    const pairs = limit.toString(2).padStart(6, '0').match(/1+0+/g) ?? [];
    const digits = value.toString(2).padStart(6, '0');
    for (let code = 0; code < choices.length ** pairs.length; code++) {
      const hints = new Map<string, bigint>();
      let previous = 0n;
      let place = 0;
      let rest = code;
      pairs.forEach((pair, run) => {
        const ones = pair.indexOf('0');
        const zeros = digits.slice(place, place + ones).replaceAll('1', '').length;
        const sum = reduce(previous + BigInt(zeros), R);
        const differs = choices[rest % choices.length] ?? 0n;
        hints.set(`differs[${run}]`, differs);
        hints.set(`inverse[${run}]`, sum === 0n ? 0n : (differs * invert(sum, R)) % R);
        previous = differs;
        place += pair.length;
        rest = Math.floor(rest / choices.length);
      });
      yield hints;
    }
  }

  it.each([0b101100n, 0b110101n, 0b111110n])(
    'AtMost(6, 0, %i) accepts exactly the integers up to it, whatever the hints',
    async (limit) => {
      const { r1cs, namesOf } = await compileTest(
        mainOf('comparison.circom', `AtMost(6, 0, ${limit})`),
      );
      for (let value = 0n; value < 64n; value++) {
        let isAccepted = false;
        for (const hints of listHints(limit, value, [0n, 1n, R - 1n, 2n, R - 2n])) {
          for (let i = 0; i < 6; i++) {
            hints.set(`bits[${i}]`, (value >> BigInt(i)) & 1n);
          }
          const witness = Array.from({ length: r1cs.wires }, (_, wire) =>
            wire === 0 ? 1n : (hints.get(namesOf.get(wire)?.[0] ?? '') ?? 0n),
          );
          isAccepted ||= findBrokenConstraints(r1cs, witness).length === 0;
        }
        expect([value, isAccepted]).toEqual([value, value <= limit]);
      }
    },
  );
});

describe('products of polynomials', () => {
  const lambda = sampleLimbs('lambda', 8, 32).map((limb) => reduce(limb - (1n << 31n), R));
  const x = sampleLimbs('x', 8, 32);
  const t = sampleLimbs('t', 4, 64);
  const wideT = t.flatMap((limb) => [limb, 0n]);

  it('NextX is lambda^2 - x - t modulo p, and its 15 rows admit no other result', async () => {
    const circuit = await compileTest(mainOf('secp256k1-sum.circom', 'NextX()'));
    const witness = await computeWitness(circuit.wasm, { lambda, x, t });
    const next = witness.slice(1, 9);
    const expected = evaluate(lambda) ** 2n - evaluate(x) - evaluate(wideT);
    expect(reduce(evaluate(next), P)).toBe(reduce(expected, P));
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
    expect(computeRank(circuit.r1cs, wiresOf(circuit, 'next', 'high'))).toBe(15);
    expect(circuit.r1cs.constraints).toBe(15);
  });

  it('Chord is lambda (t - x), and its 15 rows admit no other result', async () => {
    const circuit = await compileTest(mainOf('secp256k1-sum.circom', 'Chord()'));
    const witness = await computeWitness(circuit.wasm, { lambda, x, t });
    const product = witness.slice(1, 16);
    expect(evaluate(product)).toBe(evaluate(lambda) * (evaluate(wideT) - evaluate(x)));
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
    expect(computeRank(circuit.r1cs, wiresOf(circuit, 'product'))).toBe(15);
    expect(circuit.r1cs.constraints).toBe(15);
  });

  it('MaskedDigest multiplies with as many rows as its product has coefficients', async () => {
    const circuit = await compileTest(mainOf('masked-digest.circom', 'MaskedDigest(8)'));
    expect(computeRank(circuit.r1cs, wiresOf(circuit, 'product'))).toBe(15);
  });
});

describe('ZeroModP(1, 2)', () => {
  const main = mainOf('secp256k1-zero.circom', 'ZeroModP(1, 2)');
  let circuit: CompiledTest;
  let lax: CompiledTest;
  beforeAll(async () => {
    circuit = await compileTest(main);
    lax = await compileTest(main, ...laxChecks);
  });

  const zero = { second: toLimbs(0n, 15), low: [0n, 0n], high: [0n, 0n] };
  /** Components whose checks refuse first = value in radix 2^32, with the quotient and carry that the equations give. */
  async function check(first: readonly bigint[], other = zero): Promise<string[]> {
    const input = { ...other, first: [...first, ...toLimbs(0n, 15)].slice(0, 15) };
    const witness = await computeWitness(lax.wasm, input);
    const broken = findBrokenConstraints(circuit.r1cs, transferWitness(witness, lax, circuit));
    return nameComponents(circuit, broken);
  }

  /** Limbs of a multiple of p of about 2^352, with a top limb that exceeds its radix. */
  function multipleOfP(quotient: bigint): bigint[] {
    const value = quotient * P;
    return [...toLimbs(value, 7), value >> 224n];
  }

  it('accepts multiples of p', async () => {
    expect(await check(multipleOfP(0n))).toEqual([]);
    expect(await check(multipleOfP(1n))).toEqual([]);
    expect(await check(multipleOfP(-1n).map((limb) => reduce(limb, R)))).toEqual([]);
    expect(await check(multipleOfP((1n << 70n) + 12_345n))).toEqual([]);
    // X^8 = X + 977, and 2^160 high + low = p.
    const folded = [R - 977n, R - 1n, 0n, 0n, 0n, 0n, 0n, 0n, 1n];
    expect(await check(folded)).toEqual([]);
    const heights = { ...zero, low: [BigInt.asUintN(160, P), 0n], high: [P >> 160n, 0n] };
    expect(await check([], heights)).toEqual([]);
  });

  it.each([1n, -1n, 977n, 1n << 40n])('refuses a multiple of p plus %s', async (error) => {
    const [lowest = 0n, ...others] = multipleOfP(1234n);
    expect(await check([reduce(lowest + error, R), ...others])).toEqual(['carryRange', 'qRange']);
  });

  it('refuses a quotient out of range', async () => {
    expect(await check(multipleOfP(1n << 90n))).toEqual(['qRange']);
  });

  it('refuses r, which is 0 in the field: only its carry is out of range', async () => {
    expect(await check(toLimbs(R, 8))).toEqual(['carryRange']);
  });
});

describe('MaskedDigest(8)', () => {
  const main = mainOf('masked-digest.circom', 'MaskedDigest(8)');
  const mask = (1n << 248n) - 1n;
  const largest = (1n << 256n) - 1n;
  let circuit: CompiledTest;
  let lax: CompiledTest;
  beforeAll(async () => {
    circuit = await compileTest(main);
    lax = await compileTest(main, ...laxChecks);
  });

  it.each([
    ['small numbers', 12n, 5n, 7n, 0n],
    ['arbitrary numbers', sample('digest'), sample('scalar'), sample('mask') & mask, 0n],
    ['the largest numbers', R - 1n, largest, mask, 0n],
    ['m + 1', sample('digest'), sample('scalar'), sample('mask') & mask, 1n],
    ['m - 1', sample('digest'), sample('scalar'), sample('mask') & mask, -1n],
    ['m + r, which is m in the field', 5n, 0n, 0n, R],
  ])('%s', async (_, digest, scalar, factor, error) => {
    const masked = reduce(digest - scalar * factor + error, N);
    const witness = await computeWitness(lax.wasm, {
      digest,
      digestLow: BigInt.asUintN(128, digest),
      maskedLo: BigInt.asUintN(128, masked),
      maskedHi: masked >> 128n,
      scalar: toLimbs(scalar, 8),
      mask: toLimbs(factor, 8),
    });
    const broken = findBrokenConstraints(circuit.r1cs, transferWitness(witness, lax, circuit));
    const parts = nameComponents(circuit, broken);
    const expected = error === R ? ['carryRange'] : ['carryRange', 'qRange'];
    expect(parts).toEqual(error === 0n ? [] : expected);
  });
});
