/**
 * The distinct values of a proving key's matrices, numbered in the order of their first occurrence.
 *
 * @module
 */
import { ZkeyFormatError } from './zkey-format.ts';

export function malformed(what: string): ZkeyFormatError {
  return new ZkeyFormatError(
    `The matrices in the proving key are damaged: ${what}. Fetch or build it again.`,
  );
}

/** Scalar field order r as words of 32 bits, the lowest first. */
const orderWords = [
  0xf0000001, 0x43e1f593, 0x79b97091, 0x2833e848, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72,
] as const;

/** Whether the eight words from `start` are below r. */
export function isBelowOrder(words: Uint32Array, start: number): boolean {
  for (let i = 7; i >= 0; i--) {
    const word = words[start + i] ?? 0;
    const bound = orderWords[i] ?? 0;
    if (word !== bound) {
      return word < bound;
    }
  }
  return false;
}

/** Numbers distinct 32-byte values with open addressing over their words. */
export function createDictionary() {
  let words: Uint32Array<ArrayBuffer> = new Uint32Array(8 * 64);
  let slots = new Int32Array(256).fill(-1);
  let count = 0;

  const hash = (source: Uint32Array, start: number): number => {
    let mixed = 0;
    for (let i = 0; i < 8; i++) {
      mixed = Math.imul(mixed ^ (source[start + i] ?? 0), 0x9e3779b1);
      mixed ^= mixed >>> 15;
    }
    return mixed >>> 0;
  };
  const isAt = (index: number, source: Uint32Array, start: number): boolean => {
    for (let i = 0; i < 8; i++) {
      if (words[8 * index + i] !== source[start + i]) {
        return false;
      }
    }
    return true;
  };
  const findSlot = (source: Uint32Array, start: number): number => {
    const mask = slots.length - 1;
    let slot = hash(source, start) & mask;
    for (;;) {
      const index = slots[slot] ?? -1;
      if (index < 0 || isAt(index, source, start)) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
  };
  const grow = (): void => {
    const larger = new Uint32Array(words.length * 2);
    larger.set(words);
    words = larger;
    slots = new Int32Array(slots.length * 2).fill(-1);
    for (let index = 0; index < count; index++) {
      slots[findSlot(words, 8 * index)] = index;
    }
  };

  return {
    /** @returns the number of the value in the eight words from `start` */
    add: (source: Uint32Array, start: number): number => {
      let slot = findSlot(source, start);
      const known = slots[slot] ?? -1;
      if (known >= 0) {
        return known;
      }
      if (!isBelowOrder(source, start)) {
        throw malformed('a value is not below the field order');
      }
      if (8 * (count + 1) > words.length) {
        grow();
        slot = findSlot(source, start);
      }
      words.set(source.subarray(start, start + 8), 8 * count);
      slots[slot] = count;
      return count++;
    },
    values: (): Uint8Array => new Uint8Array(words.slice(0, 8 * count).buffer),
  };
}
