import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { babyjubjub } from '@noble/curves/misc.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instantiateKernels } from '../runtime/instantiate-kernels.ts';
import { createKernelMemory } from '../runtime/memory.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { createThreads } from '../runtime/threads.ts';
import {
  compileKernels,
  detectMultiplier,
  type Multiplier,
  scanSet,
} from '../runtime/wasm-module.ts';
import { bindScanKernels, type ScanKernels } from '../scan-kernels.ts';
import { pairsInTask, pointScratchBytes, recodeScalar } from './babyjubjub.ts';

const { Point } = babyjubjub;
const { n: order, p: modulus, a, d } = Point.CURVE();
const { Fp } = Point;
type CurvePoint = typeof Point.BASE;

function encode(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 255n));
}

function pack(point: CurvePoint): Uint8Array {
  const { x, y } = point.toAffine();
  const bytes = encode(y);
  if (x > (modulus - 1n) / 2n) bytes[31] = (bytes[31] ?? 0) | 0x80;
  return bytes;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
function part(bytes: Uint8Array, index: number, size = 32): Uint8Array {
  return bytes.slice(size * index, size * (index + 1));
}

/** x² for a y, by noble's field. */
function squareX(y: bigint): bigint {
  const yy = Fp.sqr(y);
  return Fp.div(Fp.sub(1n, yy), Fp.sub(a, Fp.mul(d, yy)));
}

function isSquare(value: bigint): boolean {
  return Fp.pow(value, (modulus - 1n) / 2n) === 1n;
}

const orderEight = (() => {
  for (let y = 2n; ; y += 1n) {
    if (!isSquare(squareX(y))) continue;
    const point = Point.fromAffine({ x: Fp.sqrt(squareX(y)), y });
    const small = point.multiplyUnsafe(order - 1n).add(point);
    if (!small.double().double().is0()) return small;
  }
})();

/** The lowest y of a point of the subgroup. Adding r to it does not carry. */
const lowestY = (() => {
  for (let y = 2n; ; y += 1n) {
    if (!isSquare(squareX(y))) continue;
    const point = Point.fromAffine({ x: Fp.sqrt(squareX(y)), y });
    if (
      point
        .multiplyUnsafe(order - 1n)
        .add(point)
        .is0()
    )
      return y;
  }
})();

const offCurve = (() => {
  let y = 2n;
  while (isSquare(squareX(y))) y += 1n;
  return y;
})();

const scalars = fc.bigInt({ min: 1n, max: order - 1n });
const points = scalars.map((scalar) => Point.BASE.multiply(scalar));

/** Every kind of bytes that do not encode a point of the subgroup, by reason. */
const hostile: readonly (readonly [string, Uint8Array])[] = [
  ...[1n, 2n, 3n, 4n, 5n, 6n, 7n].flatMap((multiple) => {
    const small = orderEight.multiplyUnsafe(multiple);
    return [
      [`of small order: ${multiple}·T`, pack(small)],
      [`a subgroup point plus ${multiple}·T`, pack(Point.BASE.multiply(77n + multiple).add(small))],
    ] as const;
  }),
  ['the identity', pack(Point.ZERO)],
  ['the identity with a sign', join([encode(1n + (1n << 255n))])],
  ['(0, -1) with a sign', encode(modulus - 1n + (1n << 255n))],
  ['y = r', encode(modulus)],
  ['y = r + 1', encode(modulus + 1n)],
  ['y = B8.y + r', encode(Point.BASE.toAffine().y + modulus)],
  ['y = r + the lowest y of the subgroup', encode(lowestY + modulus)],
  ['y = 2^255 - 1', encode((1n << 255n) - 1n)],
  ['all ones', new Uint8Array(32).fill(255)],
  ['all zeros', new Uint8Array(32)],
  ['off the curve', encode(offCurve)],
  ['off the curve with a sign', encode(offCurve + (1n << 255n))],
];

describe('recodeScalar', () => {
  it('writes every scalar, or scalar + l, with odd digits', () => {
    fc.assert(
      fc.property(fc.oneof(scalars, fc.constantFrom(1n, 2n, order - 1n, order - 2n)), (scalar) => {
        const digits = recodeScalar(encode(scalar));
        let value = 0n;
        for (let place = 0; place < 63; place += 1) {
          const size = BigInt(2 * (digits[2 * place] ?? 0) + 1);
          expect(size).toBeLessThan(16n);
          value = 16n * value + (digits[2 * place + 1] === 1 ? -size : size);
        }
        expect(value).toBe(scalar % 2n === 1n ? scalar : scalar + order);
      }),
    );
  });

  it.each([
    ['0', new Uint8Array(32)],
    ['l', encode(order)],
    ['31 bytes', new Uint8Array(31).fill(1)],
    ['33 bytes', new Uint8Array(33).fill(1)],
  ])('refuses %s', (_, scalar) => {
    expect(() => recodeScalar(scalar)).toThrow(expect.objectContaining({ code: 'input_refused' }));
  });
});

const multipliers: readonly Multiplier[] =
  detectMultiplier() === 'float' ? ['float', 'integer'] : ['integer'];

describe.each(multipliers)('scanning kernels, %s multiplier', (multiplier) => {
  let runtime: Runtime;
  let kernels: ScanKernels;

  beforeAll(async () => {
    const memory = createKernelMemory(65_536, 2 ** 28);
    const module = await compileKernels(scanSet, multiplier);
    const threads = await createThreads(2, { module, memory: memory.memory });
    runtime = { memory, threads, multiplier };
    kernels = bindScanKernels(runtime);
  });
  afterAll(() => runtime.threads.close());

  it('has as much scratch memory as the kernels require', async () => {
    const module = await compileKernels(scanSet, multiplier);
    const own = instantiateKernels(module, runtime.memory.memory);
    expect(own.get('bj_scratchBytes')?.(pairsInTask)).toBe(pointScratchBytes);
  });

  describe('multiplyPackedPoints', () => {
    it('multiplies like noble, any points by any scalar', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(points, { maxLength: 5 }), scalars, async (list, scalar) => {
          const { packed, valid } = await kernels.multiplyPackedPoints(
            join(list.map(pack)),
            encode(scalar),
          );
          expect([...valid]).toEqual(list.map(() => 1));
          expect(packed).toEqual(join(list.map((point) => pack(point.multiply(scalar)))));
        }),
        { numRuns: 25 },
      );
    });

    it.each([
      1n,
      2n,
      3n,
      15n,
      16n,
      17n,
      31n,
      32n,
      order - 1n,
      order - 2n,
      (order + 1n) / 2n,
      2n ** 250n,
      2n ** 250n - 1n,
    ])('multiplies by %s', async (scalar) => {
      const list = [Point.BASE, Point.BASE.negate(), Point.BASE.multiply(order - 5n), Point.BASE];
      const { packed } = await kernels.multiplyPackedPoints(join(list.map(pack)), encode(scalar));
      expect(packed).toEqual(join(list.map((point) => pack(point.multiply(scalar)))));
    });

    it.each([0, 1, 2, 3, 63, 64, 65, 127, 128, 129])('handles %s points', async (count) => {
      const scalar = 987654321n;
      let point = Point.BASE;
      const list = Array.from({ length: count }, () => {
        point = point.add(Point.BASE);
        return point;
      });
      const { packed, valid } = await kernels.multiplyPackedPoints(
        join(list.map(pack)),
        encode(scalar),
      );
      expect(valid).toEqual(new Uint8Array(count).fill(1));
      // noble's wNAF is slow, so the test compares the ends and one in eight.
      for (const [index, each] of list.entries()) {
        if (index % 8 !== 0 && index < count - 2) continue;
        expect(part(packed, index)).toEqual(pack(each.multiply(scalar)));
      }
    });

    it.each(hostile)('refuses %s in either lane, and accepts the other lane', async (_, bytes) => {
      const good = pack(Point.BASE.multiply(5n));
      const product = pack(Point.BASE.multiply(35n));
      const zeros = new Uint8Array(32);
      const { packed, valid } = await kernels.multiplyPackedPoints(
        join([bytes, good, good, bytes, bytes]),
        encode(7n),
      );
      expect([...valid]).toEqual([0, 1, 1, 0, 0]);
      expect(packed).toEqual(join([zeros, product, product, zeros, zeros]));
    });

    it('accepts and refuses any 32 bytes like noble', async () => {
      const decide = (bytes: Uint8Array): boolean => {
        const sign = (bytes[31] ?? 0) >> 7;
        const y =
          Buffer.from(bytes)
            .reverse()
            .reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) &
          ((1n << 255n) - 1n);
        if (y >= modulus || !isSquare(squareX(y))) return false;
        const root = Fp.sqrt(squareX(y));
        const small = root > modulus / 2n ? modulus - root : root;
        const point = Point.fromAffine({ x: sign === 1 ? modulus - small : small, y });
        return !point.is0() && point.isTorsionFree();
      };
      // A quarter of the numbers below 2^255 are below r and on the curve. An eighth of those are in the subgroup.
      const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((random) => {
        random[31] = (random[31] ?? 0) & 0x9f;
        return random;
      });
      await fc.assert(
        fc.asyncProperty(fc.array(bytes, { minLength: 64, maxLength: 64 }), async (list) => {
          const { valid } = await kernels.multiplyPackedPoints(join(list), encode(3n));
          expect([...valid]).toEqual(list.map((each) => (decide(each) ? 1 : 0)));
        }),
        { numRuns: 4 },
      );
    });

    it('leaves neither points nor scalar in memory, and frees it', async () => {
      const before = runtime.memory.bytesInUse;
      const point = pack(Point.BASE.multiply(1234567n));
      const { packed } = await kernels.multiplyPackedPoints(join([point, point]), encode(99n));
      const everything = Buffer.from(
        runtime.memory.view(65_536, runtime.memory.memory.buffer.byteLength - 65_536).slice(),
      );
      expect(runtime.memory.bytesInUse).toBe(before);
      expect(everything.includes(Buffer.from(point))).toBe(false);
      expect(everything.includes(Buffer.from(part(packed, 0)))).toBe(false);
      expect(everything.includes(Buffer.from(recodeScalar(encode(99n))))).toBe(false);
    });

    it.each([
      ['points of 33 bytes', new Uint8Array(33), encode(5n)],
      ['the scalar 0', new Uint8Array(32), encode(0n)],
      ['the scalar l', new Uint8Array(32), encode(order)],
    ])('refuses %s', async (_, list, scalar) => {
      await expect(kernels.multiplyPackedPoints(list, scalar)).rejects.toMatchObject({
        code: 'input_refused',
      });
    });

    it('reports progress, and stops with the reason of its signal', async () => {
      const list = join(Array.from({ length: 320 }, () => pack(Point.BASE)));
      const fractions: number[] = [];
      await kernels.multiplyPackedPoints(list, encode(5n), {
        onProgress: (fraction) => fractions.push(fraction),
      });
      expect(fractions).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
      const before = runtime.memory.bytesInUse;
      const controller = new AbortController();
      const reason = new Error('enough');
      const stopped = kernels.multiplyPackedPoints(list, encode(5n), {
        signal: controller.signal,
        onProgress: () => {
          controller.abort(reason);
        },
      });
      await expect(stopped).rejects.toBe(reason);
      expect(runtime.memory.bytesInUse).toBe(before);
    });
  });

  describe('openSealedBoxes', () => {
    const info = Buffer.from('a box');
    const seal = (to: CurvePoint, ephemeral: bigint, salt: Uint8Array, content: Uint8Array) => {
      const key = hkdf(sha256, pack(to.multiply(ephemeral)), salt, info, 32);
      return {
        point: pack(Point.BASE.multiply(ephemeral)),
        salt,
        box: xchacha20poly1305(key, new Uint8Array(24)).encrypt(content),
      };
    };
    const open = (items: readonly ReturnType<typeof seal>[], scalar: bigint) =>
      kernels.openSealedBoxes(
        {
          points: join(items.map(({ point }) => point)),
          salts: join(items.map(({ salt }) => salt)),
          info,
          boxes: join(items.map(({ box }) => box)),
        },
        encode(scalar),
      );

    it('opens its own boxes and no other boxes', async () => {
      const mine = 1234n;
      const items = Array.from({ length: 131 }, (_, index) =>
        seal(
          Point.BASE.multiply(index % 3 === 0 ? mine : 4321n),
          BigInt(index + 1) ** 9n,
          Uint8Array.from({ length: 5 }, () => index),
          new Uint8Array(40).fill(index + 1),
        ),
      );
      const { opened, plaintexts } = await open(items, mine);
      expect([...opened]).toEqual(items.map((_, index) => (index % 3 === 0 ? 1 : 0)));
      for (const index of items.keys()) {
        const content = new Uint8Array(40).fill(index % 3 === 0 ? index + 1 : 0);
        expect(part(plaintexts, index, 40)).toEqual(content);
      }
    });

    it('opens nothing if point, salt, box or tag differs', async () => {
      const item = seal(Point.BASE.multiply(9n), 5n, Uint8Array.of(1, 2), new Uint8Array(8));
      const flip = (bytes: Uint8Array, index: number) =>
        bytes.map((byte, place) => (place === index ? byte ^ 1 : byte));
      const { opened } = await open(
        [
          item,
          { ...item, point: pack(Point.BASE.multiply(6n)) },
          { ...item, salt: flip(item.salt, 0) },
          { ...item, box: flip(item.box, 0) },
          { ...item, box: flip(item.box, 23) },
          { ...item, point: pack(Point.BASE.multiply(5n).add(orderEight)) },
        ],
        9n,
      );
      expect([...opened]).toEqual([1, 0, 0, 0, 0, 0]);
    });

    it('refuses salts or boxes that are not one per point', async () => {
      const good = {
        points: new Uint8Array(64),
        salts: new Uint8Array(4),
        info,
        boxes: new Uint8Array(64),
      };
      for (const change of [
        { points: new Uint8Array(63) },
        { salts: new Uint8Array(3) },
        { boxes: new Uint8Array(63) },
        { boxes: new Uint8Array(30) },
      ]) {
        await expect(
          kernels.openSealedBoxes({ ...good, ...change }, encode(1n)),
        ).rejects.toMatchObject({ code: 'input_refused' });
      }
    });

    it('opens nothing in an empty list', async () => {
      const none = new Uint8Array(0);
      const result = await kernels.openSealedBoxes(
        { points: none, salts: none, info, boxes: none },
        encode(1n),
      );
      expect(result).toEqual({ opened: none, plaintexts: none });
    });
  });
});
