import { describe, expect, it } from 'vitest';
import { AttestationError } from './attestation-defect.ts';
import { parseDerTime, readDerValues } from './der.ts';
import { writeDer, writeUnsigned } from './development-attestation.ts';

const refused: readonly (readonly [string, readonly number[]])[] = [
  ['no length', [0x04]],
  ['a length beyond the end', [0x04, 0x05, 0x00]],
  ['an indefinite length', [0x04, 0x80, 0x00, 0x00]],
  ['a length of three bytes', [0x04, 0x83, 0x00, 0x00, 0x01, 0x00]],
  ['a long length below 128', [0x04, 0x81, 0x02, 0x05, 0x00]],
  ['a long length that is cut', [0x04, 0x81]],
  ['a length of two bytes that is cut', [0x04, 0x82, 0x01]],
  ['a length of two bytes that fits one', [0x04, 0x82, 0x00, 0x80, ...Array<number>(128).fill(5)]],
  ['a tag of several bytes', [0x1f, 0x01, 0x00]],
];

describe('readDerValues', () => {
  it('splits values, each with its tag, contents and encoding', () => {
    const values = readDerValues(Uint8Array.of(0x02, 0x01, 0x05, 0x30, 0x00));
    expect(values.map(({ tag }) => tag)).toEqual([0x02, 0x30]);
    expect(values[0]?.encoded).toEqual(Uint8Array.of(0x02, 0x01, 0x05));
  });

  it.each([0, 127, 128, 255, 256, 65_535])('reads %i bytes of contents', (length) => {
    const [value] = readDerValues(writeDer(0x04, new Uint8Array(length)));
    expect(value?.contents).toHaveLength(length);
  });

  it.each(refused)('refuses %s', (_what, bytes) => {
    expect(() => readDerValues(Uint8Array.from(bytes))).toThrow(AttestationError);
  });
});

it('refuses a date under another tag than that of a date', () => {
  const [value] = readDerValues(writeDer(0x04, Buffer.from('20260101000000Z')));
  expect(value && (() => parseDerTime(value))).toThrow(AttestationError);
});

it('writes integers in their shortest form, with a zero before a high bit', () => {
  expect(writeUnsigned(Uint8Array.of(0, 0, 5))).toEqual(Uint8Array.of(0x02, 0x01, 0x05));
  expect(writeUnsigned(Uint8Array.of(0x80))).toEqual(Uint8Array.of(0x02, 0x02, 0x00, 0x80));
  expect(writeUnsigned(Uint8Array.of(0))).toEqual(Uint8Array.of(0x02, 0x01, 0x00));
});
