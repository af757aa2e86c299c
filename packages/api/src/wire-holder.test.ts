/** The wire schemas of a holder's routes, as wire.test.ts for all others: a good example is taken; a changed one is not. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as tree from './edge/note-tree.ts';
import * as spends from './edge/spends.ts';

const word = `0x${'0a'.repeat(32)}`;
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const pair = [word, word];
const proof = { a: pair, b: [pair, pair], c: pair };
const note = { encryptionPublicKey: word, sealed: `0x01${'0c'.repeat(208)}` };
const deadline = 1_795_000_000;
const call = {
  token: address,
  withdrawAmount: '0',
  recipient: address,
  deadline,
  nullifiers: pair,
  commitments: [...pair, ...pair],
  outRoot: word,
  noteRoot: word,
  eligibilityRoot: word,
  digest: word,
  maskedX: word,
  maskedY: word,
  slope: word,
  maskedDigest: word,
  rSig: word,
  s: word,
  parity: 1,
};
const place = { batchIndex: 0, slot: 255 };
const path = { ...place, commitment: word, index: 2 ** 32 - 1, siblings: [word] };
const leaf = {
  index: 0,
  kind: 'spend',
  root: word,
  noteRoot: word,
  commitments: [word],
  nullifiers: [word],
  sealedNotesHash: word,
  txHash: word,
  blockNumber: 1,
};

/** Name, schema, a good value, and fields that may be left out. */
const schemas: [string, v.GenericSchema, Record<string, unknown>, string[]][] = [
  ['batches', tree.batchesResponseSchema, { batches: [leaf], next: 1 }, ['next']],
  ['leaf', tree.batchesResponseSchema.entries.batches.pipe[0].item, leaf, []],
  ['spend call', spends.spendCallSchema, call, ['recipient']],
  [
    'spend',
    spends.spendRequestSchema,
    { chain: 'anvil', spend: call, proof, sealedNotes: [note, note, note, note] },
    [],
  ],
  [
    'spend record',
    spends.spendRecordSchema,
    {
      key: 'k',
      state: 'reverted',
      chain: 'anvil',
      outRoot: word,
      deadline,
      txHash: word,
      blockNumber: 1,
      gasUsed: '1',
      error: { code: 'c', message: 'm' },
    },
    ['txHash', 'blockNumber', 'gasUsed', 'error'],
  ],
  ['note paths request', tree.notePathsRequestSchema, { chain: 'anvil', notes: [place] }, []],
  ['note paths', tree.notePathsResponseSchema, { noteRoot: word, paths: [path] }, []],
];

describe('limits of a spend', () => {
  it.each([
    ['one nullifier', { nullifiers: [word] }],
    ['17 nullifiers', { nullifiers: Array.from({ length: 17 }, () => word) }],
    ['9 commitments', { commitments: Array.from({ length: 9 }, () => word) }],
    ['a negative amount', { withdrawAmount: '-1' }],
    ['an amount with a leading zero', { withdrawAmount: '01' }],
    ['an amount of 40 digits', { withdrawAmount: '1'.repeat(40) }],
    ['another parity', { parity: 2 }],
  ])('refuse %s', (_name, change) => {
    expect(v.is(spends.spendCallSchema, { ...call, ...change })).toBe(false);
  });
});

describe.each(schemas)('%s', (_name, schema, good, optional) => {
  it('takes a good value', () => {
    expect(v.is(schema, good)).toBe(true);
  });

  it.each(Object.keys(good))('without %s: only where it may be left out', (name) => {
    const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
    expect(v.is(schema, rest)).toBe(optional.includes(name));
  });

  it.each(Object.keys(good))('refuses a %s of another type', (name) => {
    for (const value of [Symbol('s'), () => 1, null]) {
      expect(v.is(schema, { ...good, [name]: value })).toBe(false);
    }
  });

  it('refuses an unknown field, and a value that is not an object', () => {
    expect(v.is(schema, { ...good, unknownField: 1 })).toBe(false);
    for (const value of [null, undefined, 'x', 5, ['x']]) {
      expect(v.is(schema, value)).toBe(false);
    }
  });
});
