import { describe, expect, it } from 'vitest';
import { bannedWords, findBannedWords } from './house-checks.ts';

describe('findBannedWords', () => {
  it.each(bannedWords)('finds word %#', (word) => {
    expect(findBannedWords(`fine\nsee ${word} here`)).toEqual([{ line: 2, word }]);
    expect(findBannedWords(word.toUpperCase())).toHaveLength(1);
    expect(findBannedWords(`../${word}`)).toHaveLength(1);
  });

  it('accepts longer words that contain one', () => {
    const [first = ''] = bannedWords;
    expect(findBannedWords(`un${first}`)).toEqual([]);
    expect(findBannedWords('a shared folder, a library')).toEqual([]);
  });
});
