/**
 * The forms in which a 256-bit secret scalar can appear in memory, in a file or in a text. A search for all of them shows whether a
 * process or its files hold the scalar.
 *
 * @module
 */

/** One form of a scalar, as the bytes that are searched for. */
export type ScalarForm = {
  readonly name: string;
  readonly bytes: Buffer;
  /** It may be broken into lines, and have two bytes for each character. */
  readonly isText: boolean;
};

/** @param scalar - 1 … 2^256-1, at least 2^128, so that no form is found by chance */
export function formsOfScalar(name: string, scalar: bigint): readonly ScalarForm[] {
  if (scalar < 1n << 128n || scalar >= 1n << 256n) {
    throw new RangeError(`${name} is not a scalar that can be searched for`);
  }
  const hex = scalar.toString(16).padStart(64, '0');
  const bigEndian = Buffer.from(hex, 'hex');
  const littleEndian = Buffer.from(bigEndian).reverse();
  const texts = [
    { name: 'hex', text: hex },
    { name: 'upper-case hex', text: hex.toUpperCase() },
    { name: 'reversed hex', text: littleEndian.toString('hex') },
    { name: 'decimal', text: scalar.toString() },
    ...base64Texts(bigEndian, 'base64'),
    ...base64Texts(littleEndian, 'reversed base64'),
  ];
  const numbers = [
    { name: 'big-endian bytes', bytes: bigEndian },
    { name: 'little-endian bytes', bytes: littleEndian },
    // 64-bit limbs: the lowest limb first, or the highest, each limb in the order of the machine or of the network.
    { name: '64-bit limbs, highest first', bytes: swapWords(littleEndian, 8) },
    { name: '64-bit big-endian limbs, lowest first', bytes: swapWords(bigEndian, 8) },
    { name: '32-bit limbs, highest first', bytes: swapWords(littleEndian, 4) },
  ];
  const forms = [
    ...numbers.map((form) => ({ ...form, isText: false })),
    ...texts.map(({ name: form, text }) => ({
      name: form,
      bytes: Buffer.from(text, 'latin1'),
      isText: true,
    })),
  ];
  // Two forms are the same bytes, for example base64 without the characters that differ in URLs.
  const spelt = new Map(forms.map((form) => [form.bytes.toString('latin1'), form] as const));
  return [...spelt.values()].map((form) => ({ ...form, name: `${name}: ${form.name}` }));
}

/** Base64 of the bytes alone, and within a longer text, where they can begin at three places. */
function base64Texts(bytes: Buffer, name: string): readonly { name: string; text: string }[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const text = padded.toString('base64').replace(/=+$/, '');
    // The first and the last characters also depend on the bytes beside the scalar.
    // After a backslash, n and r count as a line break.
    const inner = text.slice(offset === 0 ? 0 : offset + 1, -1).replace(/^[nr]+/, '');
    return [
      { name: `${name} at ${offset}`, text: inner },
      {
        name: `${name} for URLs at ${offset}`,
        text: inner.replaceAll('+', '-').replaceAll('/', '_'),
      },
    ];
  });
}

/** Reverses the order of the words and keeps the bytes of each. */
function swapWords(bytes: Buffer, wordBytes: number): Buffer {
  const words: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += wordBytes) {
    words.unshift(bytes.subarray(at, at + wordBytes));
  }
  return Buffer.concat(words);
}
