// Every field operation, of both fields and both multipliers, against BigInt.
import { afterAll, describe, expect, it } from 'vitest';
import { instantiateKernels } from '../src/runtime/instantiate-kernels.ts';
import { compileKernels, type Multiplier, provingSet } from '../src/runtime/wasm-module.ts';
import { baseModulus, invert, modulo, scalarModulus } from './constants.ts';

const chunkSize = 4096;
/** 25 · 4096 products of each kind: above 10^5. */
const randomRounds = 25;
const [BYTES, ELEMENTS] = [chunkSize * 32, chunkSize * 40];

const place = { x: 0x10000, y: 0x10000 + BYTES, out: 0x10000 + 2 * BYTES };
const element = { x: 0x100000, y: 0x100000 + ELEMENTS, out: 0x100000 + 2 * ELEMENTS };

function createRandom(modulus: bigint): () => bigint {
  let state = 0x9e3779b97f4a7c15f39cc0605cedc834n;
  return () => {
    state = BigInt.asUintN(256, state * 0x2360ed051fc65da44385df649fccf645n + 0x5851f42d4c957f2dn);
    return BigInt.asUintN(256, state ^ (state >> 97n)) % modulus;
  };
}

/**
 * 0, 1, the largest values, the middle (where the sign changes), values around the limbs' edges, and values whose elements are small or
 * half a limb (the factor R of `float` is 2^255), so that columns are half way between two carries.
 */
function edgesOf(p: bigint): bigint[] {
  const powers = [50n, 51n, 52n, 101n, 102n, 103n, 152n, 153n, 154n, 203n, 204n, 205n, 253n];
  const around = powers.flatMap((power) => [-1n, 0n, 1n].map((add) => (1n << power) + add));
  const list = [0n, 1n, 2n, p - 1n, p - 2n, (p - 1n) / 2n, (p + 1n) / 2n, ...around];
  const elements = [1n, 1n << 50n, 3n << 50n, (1n << 50n) + (1n << 101n)];
  const halves = elements.map((value) => value * invert(1n << 255n, p));
  return [...list, ...around.map((value) => p - value), ...halves].map((value) => modulo(value, p));
}

const fields = { q: baseModulus, r: scalarModulus };

describe.each(['float', 'integer'] as const)('%s multiplier', (multiplier: Multiplier) => {
  // A memory of its own: each module writes its constants there.
  const memory = new WebAssembly.Memory({ initial: 64, maximum: 64, shared: true });
  const view = new DataView(memory.buffer);

  const write = (address: number, values: readonly bigint[]): void => {
    values.forEach((value, index) => {
      for (let word = 0; word < 4; word++) {
        const part = BigInt.asUintN(64, value >> BigInt(64 * word));
        view.setBigUint64(address + 32 * index + 8 * word, part, true);
      }
    });
  };
  const read = (address: number, index: number): bigint => {
    let value = 0n;
    for (let word = 3; word >= 0; word--) {
      value = (value << 64n) | view.getBigUint64(address + 32 * index + 8 * word, true);
    }
    return value;
  };

  const ready = compileKernels(provingSet, multiplier).then((module) =>
    instantiateKernels(module, memory),
  );
  afterAll(() => ready);

  it('inverts numbers of the field q by divsteps', async () => {
    const p = fields.q;
    const random = createRandom(p);
    const kernels = await ready;
    const values = [...edgesOf(p), ...Array.from({ length: 4000 }, random)];
    write(place.x, values);
    values.forEach((_, index) => {
      kernels.get('q_invertBytes')?.(place.out + 32 * index, place.x + 32 * index);
    });
    expect(values.map((_, index) => read(place.out, index) % p)).toEqual(
      values.map((value) => (value === 0n ? 0n : invert(value, p))),
    );
  });

  describe.each(['q', 'r'] as const)('field %s', (name) => {
    const p = fields[name];
    const random = createRandom(p);
    const check = async (
      kernel: string,
      xs: readonly bigint[],
      ys: readonly bigint[] | undefined,
      expected: (x: bigint, y: bigint) => bigint,
    ): Promise<void> => {
      const kernels = await ready;
      const run = (suffix: string, ...numbers: number[]) =>
        kernels.get(`${name}_${suffix}`)?.(...numbers);
      write(place.x, xs);
      run('fromCanonical', element.x, place.x, xs.length);
      if (ys !== undefined) {
        write(place.y, ys);
        run('fromCanonical', element.y, place.y, ys.length);
        run(kernel, element.out, element.x, element.y, xs.length);
      } else {
        run(kernel, element.out, element.x, xs.length);
      }
      run('toCanonical', place.out, element.out, xs.length);
      const wrong = xs.findIndex(
        (x, index) => read(place.out, index) !== modulo(expected(x, ys?.[index] ?? 0n), p),
      );
      expect(wrong === -1 ? undefined : { x: xs[wrong], y: ys?.[wrong] }).toBeUndefined();
    };
    const binary = {
      multiply: (x: bigint, y: bigint) => x * y,
      multiplyDense: (x: bigint, y: bigint) => x * y,
      multiplySum: (x: bigint, y: bigint) => x * y + x * x,
      add: (x: bigint, y: bigint) => x + y,
      subtract: (x: bigint, y: bigint) => x - y,
    };

    it.each(Object.keys(binary) as (keyof typeof binary)[])(
      '%s: edges with edges',
      async (kind) => {
        const edges = edgesOf(p);
        for (const x of edges)
          await check(
            kind,
            edges.map(() => x),
            edges,
            binary[kind],
          );
      },
    );

    it('multiplies and squares 10^5 random values', async () => {
      for (let round = 0; round < randomRounds; round++) {
        const xs = Array.from({ length: chunkSize }, random);
        const ys = Array.from({ length: chunkSize }, random);
        for (const kind of ['multiply', 'multiplyDense', 'multiplySum'] as const)
          await check(kind, xs, ys, binary[kind]);
        await check('square', xs, undefined, (x) => x * x);
      }
    });

    it('adds, subtracts and negates random values; odd and small counts', async () => {
      for (const length of [1, 2, 3, 1023]) {
        const xs = Array.from({ length }, random);
        const ys = Array.from({ length }, random);
        await check('add', xs, ys, binary.add);
        await check('subtract', xs, ys, binary.subtract);
        await check('negate', xs, undefined, (x) => -x);
        await check('square', xs, undefined, (x) => x * x);
      }
      await check('square', edgesOf(p), undefined, (x) => x * x);
      await check('negate', edgesOf(p), undefined, (x) => -x);
    });

    it('reads and writes the form of proving keys', async () => {
      const kernels = await ready;
      const values = [...edgesOf(p), ...Array.from({ length: 100 }, random)];
      const radix = (1n << 256n) % p;
      write(
        place.x,
        values.map((value) => (value * radix) % p),
      );
      kernels.get(`${name}_fromMontgomery256`)?.(element.x, place.x, values.length);
      kernels.get(`${name}_toCanonical`)?.(place.out, element.x, values.length);
      expect(values.map((_, index) => read(place.out, index))).toEqual(values);
      kernels.get(`${name}_toMontgomery256`)?.(place.out, element.x, values.length);
      expect(values.map((_, index) => read(place.out, index))).toEqual(
        values.map((value) => (value * radix) % p),
      );
    });

    it('reads any 256 bits, reduced', async () => {
      const kernels = await ready;
      const top = (1n << 256n) - 1n;
      const values = [p, p + 1n, 2n * p - 1n, 2n * p, 5n * p, top, top - p, 1n << 255n];
      write(place.x, values);
      kernels.get(`${name}_fromCanonical`)?.(element.x, place.x, values.length);
      kernels.get(`${name}_toCanonical`)?.(place.out, element.x, values.length);
      expect(values.map((_, index) => read(place.out, index))).toEqual(
        values.map((value) => value % p),
      );
    });

    it('inverts pairs in batches', async () => {
      const kernels = await ready;
      const edges = edgesOf(p).filter((value) => value !== 0n);
      for (const [pairs, at] of [
        ...[1, 2, 3, 31, 32, 33].map((count) => [count, random] as const),
        [5, () => 1n],
        [5, () => p - 1n],
        [edges.length, (i: number) => edges[i % edges.length] ?? 1n],
      ] as const) {
        const values = Array.from({ length: 2 * pairs }, (_, i) => at(i));
        write(place.x, values);
        kernels.get(`${name}_fromCanonical`)?.(element.x, place.x, values.length);
        // Element 2i + lane to lane `lane` of pair i, and back.
        const move = (from: (i: number, limb: number) => number, to: typeof from): void => {
          for (let i = 0; i < values.length; i++) {
            for (let limb = 0; limb < 5; limb++) {
              view.setBigUint64(to(i, limb), view.getBigUint64(from(i, limb), true), true);
            }
          }
        };
        const alone = (i: number, limb: number) => element.x + 40 * i + 8 * limb;
        const paired = (i: number, limb: number) =>
          element.y + 80 * Math.floor(i / 2) + 16 * limb + 8 * (i % 2);
        move(alone, paired);
        kernels.get(`${name}_invertPairs`)?.(element.y, pairs, element.out);
        move(paired, alone);
        kernels.get(`${name}_toCanonical`)?.(place.out, element.x, values.length);
        expect(values.map((_, index) => read(place.out, index))).toEqual(
          values.map((value) => invert(value, p)),
        );
      }
    });
  });
});
