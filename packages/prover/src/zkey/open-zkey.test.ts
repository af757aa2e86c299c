import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bn254 } from '@noble/curves/bn254.js';
import {
  convertZkey,
  createMemorySource,
  findInvalidPoint,
  isSameVerificationKey,
  readZkeyTable,
  toVerificationKey,
  zkeySection,
} from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { baseFieldOrder, readCoordinate } from '../base/field.ts';
import { decodeG1, decodeG2 } from '../base/points.ts';
import { openZkey, readVerificationKey } from './open-zkey.ts';

let circuit: SmallCircuit;
let bytes: Buffer;
/** Where sections lie in `bytes`. */
let starts: Map<number, number>;
beforeAll(async () => {
  circuit = await createSmallCircuit(squaresSource(5), 4);
  bytes = await readFile(circuit.zkey);
  const table = await readZkeyTable(createMemorySource(bytes));
  starts = new Map(table.sections.map(({ id, start }) => [id, start]));
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

function malformed(message: RegExp) {
  return expect.objectContaining({
    code: 'zkey_malformed',
    retryable: false,
    message: expect.stringMatching(message),
  });
}

/** A copy with changed bytes at an offset within a section. */
function change(section: number, offset: number, ...values: number[]): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(values, (starts.get(section) ?? 0) + offset);
  return copy;
}

describe("a key of snarkjs' ceremony", () => {
  it('opens from a file and from memory, with the sizes of the circuit', async () => {
    for (const source of [circuit.zkey, new Uint8Array(bytes)]) {
      const zkey = await openZkey(source);
      expect(zkey.header).toMatchObject({ publicSignals: 3, domainSize: 16 });
      expect(zkey.countPoints('ic')).toBe(4);
      expect(zkey.countPoints('h')).toBe(16);
      expect(zkey.countPoints('c')).toBe(zkey.header.wires - 4);
      expect(zkey.countPoints('b2')).toBe(zkey.header.wires);
      const { row } = await zkey.readCoefficients();
      expect(row.length).toBe(zkey.header.coefficients);
      await zkey.close();
    }
  });

  it('has points that are on the curve for noble, read in pieces of any size', async () => {
    const zkey = await openZkey(circuit.zkey);
    for (const section of ['ic', 'a', 'b1', 'c', 'h'] as const) {
      const count = zkey.countPoints(section);
      const whole = new Uint8Array(64 * count);
      await zkey.readPoints(section, 0, count, whole);
      for (let i = 0; i < count; i++) {
        const piece = new Uint8Array(new SharedArrayBuffer(100));
        await zkey.readPoints(section, i, 1, piece);
        expect(piece.slice(0, 64)).toEqual(whole.slice(64 * i, 64 * i + 64));
        const point = decodeG1(whole, 64 * i);
        if (point !== undefined) bn254.G1.Point.fromAffine(point).assertValidity();
      }
    }
    const b2 = new Uint8Array(128);
    for (let i = 0; i < zkey.countPoints('b2'); i++) {
      await zkey.readPoints('b2', i, 1, b2);
      const point = decodeG2(b2);
      if (point !== undefined) {
        const [x, y] = [point.x, point.y].map(([c0, c1]) => ({ c0, c1 }));
        bn254.G2.Point.fromAffine({ x: x!, y: y! }).assertValidity();
      }
    }
    await expect(zkey.readPoints('h', 16, 1, b2)).rejects.toThrow(RangeError);
    await zkey.close();
  });

  it('has equal contents in its compact form', async () => {
    const parts: Buffer[] = [];
    for await (const part of convertZkey(createMemorySource(bytes), 'compact')) {
      parts.push(Buffer.from(part));
    }
    const [standard, compact] = [await openZkey(bytes), await openZkey(Buffer.concat(parts))];
    expect(compact.header).toEqual(standard.header);
    expect(await compact.readCoefficients()).toEqual(await standard.readCoefficients());
  });

  it('exports the same verification key as snarkjs', async () => {
    const { protocol, curve, nPublic, vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2, IC } =
      circuit.verificationKey;
    const fields = { protocol, curve, nPublic, vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2, IC };
    expect(await readVerificationKey(circuit.zkey)).toEqual(fields);
    expect(await readVerificationKey(bytes)).toEqual(fields);
  });

  it('belongs to its verification key and to no other key', async () => {
    const zkey = await openZkey(bytes);
    const ic = new Uint8Array(64 * 4);
    await zkey.readPoints('ic', 0, 4, ic);
    const key = circuit.verificationKey;
    const matches = (other: object) =>
      isSameVerificationKey(toVerificationKey(zkey.header, ic), other as typeof key);
    expect(matches(key)).toBe(true);
    for (const other of [
      { ...key, IC: key.IC.toReversed() },
      { ...key, IC: key.IC.slice(1), nPublic: 2 },
      { ...key, vk_alpha_1: key.IC[0] },
      { ...key, vk_beta_2: key.vk_delta_2 },
      { ...key, vk_gamma_2: key.vk_delta_2 },
      { ...key, vk_delta_2: key.vk_gamma_2 },
    ]) {
      expect(matches(other)).toBe(false);
    }
  });
});

describe('a key is refused', () => {
  it.each<[string, () => Buffer, RegExp]>([
    ['of another protocol', () => change(1, 0, 2), /another proof system/],
    ['over another curve', () => change(2, 4, 0), /another curve/],
    ['with more wires than points', () => change(2, 72, 200), /bytes instead of/],
    ['with another domain than points', () => change(2, 80, 32), /bytes instead of/],
    ['with a fixed point off its curve', () => change(2, 84, 1, 2, 3), /does not lie on the curve/],
    ['with a G2 point off its curve', () => change(2, 84 + 128, 1, 2), /does not lie on the curve/],
    ['with a fixed coordinate not below q', () => change(2, 84 + 31, 255), /does not lie/],
    ['that is cut off', () => bytes.subarray(0, -100), /cut off/],
    ['without a section', () => change(1, -12 + 0, 99), /no section 1/],
    ['that is not a key at all', () => Buffer.from('{"not": "a key"}'), /not a proving key/],
  ])('%s', async (_, make, message) => {
    await expect(openZkey(make())).rejects.toEqual(malformed(message));
    const path = join(circuit.folder, 'wrong.zkey');
    await writeFile(path, make());
    await expect(openZkey(path)).rejects.toEqual(malformed(message));
  });

  it('if a coordinate is not below q, as soon as it is read', async () => {
    const zkey = await openZkey(change(zkeySection.h, 64 + 31, 0xff));
    const into = new Uint8Array(128);
    await zkey.readPoints('h', 0, 1, into);
    await expect(zkey.readPoints('h', 0, 2, into)).rejects.toEqual(malformed(/not below/));
    const order = Buffer.from(baseFieldOrder.toString(16).padStart(64, '0'), 'hex').reverse();
    const exact = await openZkey(change(zkeySection.h, 0, ...order));
    await expect(exact.readPoints('h', 0, 1, into)).rejects.toEqual(malformed(/not below/));
    order[0] = (order[0] ?? 0) - 1;
    const below = await openZkey(change(zkeySection.h, 0, ...order));
    await below.readPoints('h', 0, 1, into);
  });

  it('if its file becomes shorter while it is open', async () => {
    const path = join(circuit.folder, 'shrinking.zkey');
    await writeFile(path, bytes);
    const zkey = await openZkey(path);
    await truncate(path, 1_000);
    await expect(zkey.readPoints('b2', 0, 1, new Uint8Array(128))).rejects.toEqual(
      malformed(/became shorter/),
    );
    await zkey.close();
  });
});

describe('the curve check', () => {
  it('agrees with noble on multiples of the generators, and on points off the curve', () => {
    const encode = (...coordinates: bigint[]) =>
      Buffer.concat(
        coordinates.map((value) =>
          Buffer.from(
            ((value << 256n) % baseFieldOrder).toString(16).padStart(64, '0'),
            'hex',
          ).reverse(),
        ),
      );
    const isOn = (group: 'g1' | 'g2', point: Uint8Array) =>
      findInvalidPoint(group, point, 'refused') === undefined;
    for (const factor of [1n, 2n, 12_345n]) {
      const { x, y } = bn254.G1.Point.BASE.multiply(factor).toAffine();
      expect(readCoordinate(encode(x), 0)).toBe(x);
      expect(isOn('g1', encode(x, y))).toBe(true);
      expect(isOn('g1', encode(x, y + 1n))).toBe(false);
      const g2 = bn254.G2.Point.BASE.multiply(factor).toAffine();
      expect(isOn('g2', encode(g2.x.c0, g2.x.c1, g2.y.c0, g2.y.c1))).toBe(true);
      expect(isOn('g2', encode(g2.x.c1, g2.x.c0, g2.y.c0, g2.y.c1))).toBe(false);
    }
  });
});
