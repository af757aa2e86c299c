import { describe, expect, it } from 'vitest';
import { chooseTrial, findWrongWords } from './words-trial.ts';

function giveBytes(bytes: readonly number[]): () => Uint8Array {
  const left = [...bytes];
  return () => Uint8Array.of(left.shift() ?? 0);
}

describe('the trial of the recovery words', () => {
  it('asks for three different places in order', () => {
    expect(chooseTrial(24, giveBytes([30, 6, 2, 239]))).toEqual([2, 6, 23]);
  });

  it('drops bytes that would prefer the first places', () => {
    expect(chooseTrial(24, giveBytes([240, 255, 1, 2, 3]))).toEqual([1, 2, 3]);
  });

  it('names each wrong word, and forgives case and blanks', () => {
    const words = ['abandon', 'ability', 'able'];
    expect(findWrongWords(words, [0, 2], [' Abandon', 'able'])).toEqual([]);
    expect(findWrongWords(words, [0, 2], ['abandon', 'ability'])).toEqual([2]);
    expect(findWrongWords(words, [0, 2], ['abandon'])).toEqual([2]);
  });
});
