/**
 * The distinct values of matrices, numbered in the order of their first occurrence: millions of entries share a few thousand.
 *
 * @module
 */
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
