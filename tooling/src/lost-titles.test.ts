import { expect, it } from 'vitest';
import { findLostTitles, parseRenamedTitles } from './lost-titles.ts';

it('finds a title that is missing, and one that occurs less often', () => {
  expect(findLostTitles(['a', 'b', 'b', 'c'], ['b', 'c', 'd'], [])).toEqual(['a', 'b']);
});

it('follows renamed titles, also renamed twice', () => {
  const renamed = parseRenamedTitles('# why\n\na\tb\nb\tc\nloop\tloop\nx\t\n');
  expect(findLostTitles(['a', 'b'], ['c', 'c'], renamed)).toEqual([]);
  expect(findLostTitles(['a', 'b'], ['c'], renamed)).toEqual(['b']);
  expect(findLostTitles(['loop', 'x'], [], renamed)).toEqual(['loop']);
});

it.each(['a', '\tb', 'a\tb\tc'])('refuses the line %j', (line) => {
  expect(() => parseRenamedTitles(line)).toThrow('old<TAB>new');
});
