/**
 * The trial of the recovery words: the page asks for three of the 24, so that nobody goes on who has not written them down.
 *
 * @module
 */

const triedWords = 3;

/**
 * Places of the words that are asked for, from 0, ascending, each once.
 * @param randomBytes - of a generator that nobody can foresee
 */
export function chooseTrial(
  wordCount: number,
  randomBytes: (length: number) => Uint8Array,
): readonly number[] {
  const places = new Set<number>();
  while (places.size < Math.min(triedWords, wordCount)) {
    const [byte = 0] = randomBytes(1);
    // Bytes above the last whole multiple would prefer the first places.
    if (byte < 256 - (256 % wordCount)) {
      places.add(byte % wordCount);
    }
  }
  return [...places].sort((a, b) => a - b);
}

/** @returns the places whose word is wrong */
export function findWrongWords(
  words: readonly string[],
  places: readonly number[],
  typed: readonly string[],
): readonly number[] {
  return places.filter((place, index) => typed[index]?.trim().toLowerCase() !== words[place]);
}
