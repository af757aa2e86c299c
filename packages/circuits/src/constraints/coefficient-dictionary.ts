/**
 * Numbers distinct 32-byte values by their first occurrence. The millions of terms of a circuit share a few thousand
 * coefficients.
 *
 * @module
 */

/** Words of 32 bits in a value. */
const valueWords = 8;

/** Open addressing over the values' words. No string or BigInt is created for a known value. */
export function createCoefficientDictionary() {
  let words = new Uint32Array(valueWords * 512);
  let slots = new Int32Array(1024).fill(-1);
  let count = 0;

  const findSlot = (source: Uint32Array, start: number): number => {
    let mixed = 0;
    for (let i = 0; i < valueWords; i++) {
      mixed = Math.imul(mixed ^ (source[start + i] ?? 0), 0x9e3779b1);
      mixed ^= mixed >>> 15;
    }
    const mask = slots.length - 1;
    for (let slot = mixed & mask; ; slot = (slot + 1) & mask) {
      const known = slots[slot] ?? -1;
      if (known < 0) {
        return slot;
      }
      let i = 0;
      while (i < valueWords && words[valueWords * known + i] === source[start + i]) {
        i++;
      }
      if (i === valueWords) {
        return slot;
      }
    }
  };

  /** Doubles the capacity. At most half of the slots are used at any time. */
  const grow = (): void => {
    const larger = new Uint32Array(words.length * 2);
    larger.set(words);
    words = larger;
    slots = new Int32Array(slots.length * 2).fill(-1);
    for (let index = 0; index < count; index++) {
      slots[findSlot(words, valueWords * index)] = index;
    }
  };

  return {
    /** The number of the value in the eight words from `start`, the lowest word first. */
    add: (source: Uint32Array, start: number): number => {
      const slot = findSlot(source, start);
      const known = slots[slot] ?? -1;
      if (known >= 0) {
        return known;
      }
      const index = count++;
      slots[slot] = index;
      words.set(source.subarray(start, start + valueWords), valueWords * index);
      if (valueWords * count === words.length) {
        grow();
      }
      return index;
    },
    /** The values by their numbers. */
    values: (): bigint[] =>
      Array.from({ length: count }, (_, index) => {
        let value = 0n;
        for (let i = valueWords - 1; i >= 0; i--) {
          value = (value << 32n) | BigInt(words[valueWords * index + i] ?? 0);
        }
        return value;
      }),
  };
}
