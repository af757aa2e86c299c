import { describe, expect, it } from 'vitest';
import { parsePcrPins, parseRootSha256 } from './pins.ts';

const [a, b, c] = ['a0', 'b1', 'c2'].map((byte) => byte.repeat(48));

describe('pins of an enclave', () => {
  it('are read in any order and case', () => {
    const pins = parsePcrPins(`2=${c}, 0=${a?.toUpperCase()},1=0x${b}`);
    expect(pins.map((pin) => pin[0])).toEqual([0xa0, 0xb1, 0xc2]);
    expect(parseRootSha256('AB:'.repeat(31).concat('ab'))).toEqual(new Uint8Array(32).fill(0xab));
  });

  it.each([
    ['no PCR2', `0=${a},1=${b}`],
    ['PCR0 twice', `0=${a},0=${a},1=${b},2=${c}`],
    ['another PCR', `0=${a},1=${b},2=${c},3=${c}`],
    ['a short value', `0=${a},1=${b},2=${c?.slice(2)}`],
    ['a PCR of zeros', `0=${a},1=${b},2=${'0'.repeat(96)}`],
    ['nothing', ''],
  ])('are refused with %s', (_what, text) => {
    expect(() => parsePcrPins(text)).toThrow(/^the PCR pins must be/);
  });

  it('are refused with a fingerprint of another length', () => {
    expect(() => parseRootSha256('ab'.repeat(20))).toThrow(/64 hex digits/);
  });
});
