import { bn254 } from '@noble/curves/bn254.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readZkeyCoefficients, type ZkeyCoefficients } from './zkey-coefficients.ts';
import {
  convertZkey,
  encodeZkeyCoefficients,
  measureZkeyCoefficients,
} from './zkey-coefficients-encoding.ts';
import {
  createMemorySource,
  decodeZkeyHeader,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  readZkeyTable,
  type ZkeyForm,
  zkeySection,
} from './zkey-format.ts';

const R = bn254.fields.Fr.ORDER;
const limits = { domainSize: 2 ** 16, wires: 70_000 };
const malformed = expect.objectContaining({ code: 'zkey_malformed', retryable: false });

function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

/** Entries as tuples: matrix, row, wire, value. */
type Entry = readonly [number, number, number, bigint];

function fromEntries(entries: readonly Entry[]): ZkeyCoefficients {
  const distinct = [...new Set(entries.map(([, , , value]) => value))];
  return {
    matrix: Uint8Array.from(entries, ([matrix]) => matrix),
    row: Uint32Array.from(entries, ([, row]) => row),
    wire: Uint32Array.from(entries, ([, , wire]) => wire),
    value: Uint32Array.from(entries, ([, , , value]) => distinct.indexOf(value)),
    values: Uint8Array.from(Buffer.concat(distinct.map(toBytes))),
  };
}

/** The section written out by hand, following the format. */
function writeStandard(entries: readonly Entry[]): Buffer {
  const numbers = (...list: number[]) => Buffer.from(Uint32Array.from(list).buffer);
  return Buffer.concat([
    numbers(entries.length),
    ...entries.flatMap(([matrix, row, wire, value]) => [
      numbers(matrix, row, wire),
      toBytes(value),
    ]),
  ]);
}

function encode(form: ZkeyForm, coefficients: ZkeyCoefficients): Buffer {
  return Buffer.concat([...encodeZkeyCoefficients(form, coefficients)]);
}

function read(form: ZkeyForm, bytes: Uint8Array, within = limits) {
  return readZkeyCoefficients(
    form,
    createMemorySource(bytes),
    { id: zkeySection.coefficients, start: 0, length: bytes.length },
    within,
  );
}

const entry = fc.tuple(
  fc.nat(1),
  fc.nat(limits.domainSize - 1),
  fc.nat(limits.wires - 1),
  fc.oneof(fc.constantFrom(0n, 1n, R - 1n), fc.bigInt(0n, R - 1n)),
);

describe('the coefficients', () => {
  it('are read from the standard form and are equal after both conversions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 60 }), async (entries) => {
        const standard = writeStandard(entries);
        const coefficients = await read('standard', standard);
        expect(coefficients).toEqual(fromEntries(entries));
        expect(encode('standard', coefficients)).toEqual(standard);
        const compact = encode('compact', coefficients);
        expect(await read('compact', compact)).toEqual(coefficients);
        expect(measureZkeyCoefficients('compact', coefficients)).toBe(compact.length);
        expect(measureZkeyCoefficients('standard', coefficients)).toBe(standard.length);
      }),
    );
  });

  it('can have more distinct values and entries than one read', async () => {
    const entries = Array.from(
      { length: 40_000 },
      (_, i): Entry => [i & 1, i, (i * 7919) % 70_000, BigInt(i % 5_000) ** 5n],
    );
    const coefficients = await read('standard', writeStandard(entries));
    expect(coefficients.values.length).toBe(5_000 * 32);
    expect(encode('standard', coefficients)).toEqual(writeStandard(entries));
    expect(await read('compact', encode('compact', coefficients))).toEqual(coefficients);
  });

  it.each<[string, Entry]>([
    ['a third matrix', [2, 0, 0, 1n]],
    ['a row outside the domain', [0, 2 ** 16, 0, 1n]],
    ['a wire outside the circuit', [0, 0, 70_000, 1n]],
    ['a value that is not below r', [0, 0, 0, R]],
  ])('are refused with %s', async (_, wrong) => {
    await expect(read('standard', writeStandard([[0, 1, 1, 1n], wrong]))).rejects.toEqual(
      malformed,
    );
    if (wrong[0] < 2) {
      const compact = encode('compact', fromEntries([[0, 1, 1, 1n], wrong]));
      await expect(read('compact', compact)).rejects.toEqual(malformed);
    }
  });

  it('are refused if the section is cut off, or if the compact form has one byte more or less', async () => {
    const entries = Array.from({ length: 50 }, (_, i): Entry => [0, i, 3 * i, BigInt(i)]);
    const standard = writeStandard(entries);
    await expect(read('standard', standard.subarray(0, -1))).rejects.toEqual(malformed);
    const compact = encode('compact', fromEntries(entries));
    for (let length = 0; length < compact.length; length += 7) {
      await expect(read('compact', compact.subarray(0, length))).rejects.toEqual(malformed);
    }
    await expect(read('compact', Buffer.concat([compact, Buffer.alloc(1)]))).rejects.toEqual(
      malformed,
    );
  });
});

const header = {
  wires: 5,
  publicSignals: 1,
  domainSize: 8,
  alpha1: new Uint8Array(64).fill(1),
  beta1: new Uint8Array(64).fill(2),
  beta2: new Uint8Array(128).fill(3),
  gamma2: new Uint8Array(128).fill(4),
  delta1: new Uint8Array(64).fill(5),
  delta2: new Uint8Array(128).fill(6),
};

function writeKey(form: ZkeyForm, sections: readonly (readonly [number, Uint8Array])[]): Buffer {
  return Buffer.concat([
    encodeZkeyStart(form, sections.length),
    ...sections.flatMap(([id, bytes]) => [encodeZkeySectionHead(id, bytes.length), bytes]),
  ]);
}

describe('the container', () => {
  const entries: Entry[] = [
    [0, 0, 1, 5n],
    [1, 0, 2, 6n],
    [0, 1, 4, 5n],
  ];
  const standard = writeKey('standard', [
    [zkeySection.protocol, Uint8Array.of(1, 0, 0, 0)],
    [zkeySection.header, encodeZkeyHeader(header)],
    [zkeySection.coefficients, writeStandard(entries)],
    [zkeySection.h, new Uint8Array(8 * 64).fill(9)],
  ]);

  it('has magic, version, and sections by number and length', async () => {
    expect(standard.subarray(0, 8)).toEqual(Buffer.from('zkey\x01\0\0\0', 'latin1'));
    const { form, sections } = await readZkeyTable(createMemorySource(standard));
    expect(form).toBe('standard');
    expect(sections.map(({ id }) => id)).toEqual([1, 2, 4, 9]);
    expect(sections[3]).toEqual({ id: 9, start: standard.length - 512, length: 512 });
  });

  it('is the same file after conversion to the compact form and back', async () => {
    const convert = async (bytes: Uint8Array, form: ZkeyForm) => {
      const parts: Buffer[] = [];
      for await (const part of convertZkey(createMemorySource(bytes), form)) {
        parts.push(Buffer.from(part));
      }
      return Buffer.concat(parts);
    };
    const compact = await convert(standard, 'compact');
    expect(compact.subarray(0, 4).toString()).toBe('pzky');
    expect(compact.length).toBeLessThan(standard.length);
    expect(await convert(compact, 'standard')).toEqual(standard);
    expect(await convert(standard, 'standard')).toEqual(standard);
    expect(await convert(compact, 'compact')).toEqual(compact);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['another magic', Buffer.concat([Buffer.from('wtns'), standard.subarray(4)])],
    ['another version', standard.subarray().with(4, 2)],
    ['one section too many', standard.subarray().with(8, 5)],
    ['one section too few', standard.subarray().with(8, 3)],
    ['a thousand sections', standard.subarray().with(9, 4)],
    ['one byte less', standard.subarray(0, -1)],
    ['one byte more', Buffer.concat([standard, Buffer.alloc(1)])],
    ['a section that occurs twice', standard.subarray().with(12, 9)],
    ['a length beyond 2^63', standard.subarray().with(23, 255)],
  ])('is refused with %s', async (_, bytes) => {
    await expect(readZkeyTable(createMemorySource(bytes))).rejects.toEqual(malformed);
  });
});

describe('the header', () => {
  const bytes = encodeZkeyHeader(header);

  it('is unchanged after writing and reading', () => {
    expect(decodeZkeyHeader(bytes)).toEqual(header);
  });

  it.each([
    ['another base field', bytes.with(5, 0)],
    ['another scalar field', bytes.with(40, 0)],
    ['another size of elements', bytes.with(0, 48)],
    ['a domain that is not a power of two', bytes.with(80, 9)],
    ['an empty domain', bytes.with(80, 0)],
    ['a domain of 2^28', bytes.with(80, 0).with(83, 16)],
    ['as many public signals as wires', bytes.with(76, 5)],
    ['one byte less', bytes.subarray(0, -1)],
    ['no bytes', new Uint8Array()],
  ])('is refused with %s', (_, wrong) => {
    expect(() => decodeZkeyHeader(wrong)).toThrow(malformed);
  });
});
