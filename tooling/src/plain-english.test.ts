import { expect, it } from 'vitest';
import { findCrookedPhrases } from './plain-english.ts';

it.each([
  'the token wants its allowance at zero',
  'the field stands in no table',
  'a name that is none of ours',
  'the log tells of it',
  'one a key',
  'which would else wait',
  'half a character',
  'the batch is handed over',
  'poolless chains',
  'Held by `a.test.ts`',
])('finds %j', (text) => {
  expect(findCrookedPhrases(`first\n${text}`)).toMatchObject([{ line: 2 }]);
});

it.each([
  'one at a time',
  'one a minute',
  'stands for',
  'standing order',
  'unwanted',
  'pool.example wants you to sign in with your Ethereum account',
  'the relayer holds the key',
])('accepts %j', (text) => {
  expect(findCrookedPhrases(text)).toEqual([]);
});
