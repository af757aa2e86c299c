import { expect, it } from 'vitest';
import { findPasswordProblem } from './password.ts';

it.each([
  ['', '', 'too-short'],
  ['kelp otter tango', 'kelp otter tango', undefined],
  ['kelp otter tang', 'kelp otter tang', 'too-short'],
  // 16 characters, each of two code units; 16 code points that are 15 characters in NFC.
  ['\u{1f600}'.repeat(16), '\u{1f600}'.repeat(16), 'too-plain'],
  ['kelp otter ange\u0301', 'kelp otter ange\u0301', 'too-short'],
  ['1234567123456712', '1234567123456712', 'too-plain'],
  ['kelp otter tango', 'kelp otter tangos', 'not-repeated'],
])('%j, typed again as %j, is %j', (password, repeated, problem) => {
  expect(findPasswordProblem(password, repeated)).toBe(problem);
});
