/** The wire schemas of a holder's routes, as wire.test.ts for all others: a good example is taken; a changed one is not. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as edge from './edge.ts';

const word = `0x${'0a'.repeat(32)}`;
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
  ['batches', edge.batchesResponseSchema, { batches: [leaf], next: 1 }, ['next']],
  ['leaf', edge.batchesResponseSchema.entries.batches.pipe[0].item, leaf, []],
];

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
