import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  amountSchema,
  chainKeySchema,
  evmAddressSchema,
  hexSchema,
  isoTimeSchema,
  parseWire,
  tokenSymbolSchema,
  unixSecondsSchema,
  urlSchema,
} from './schema.ts';

describe.each<[string, v.GenericSchema, unknown[], unknown[]]>([
  [
    'hexSchema(2)',
    hexSchema(2),
    ['0x00ff'],
    ['0x00', '0x00FF', '00ff', '0x00f', '0x00ff00', 5, null],
  ],
  [
    'evmAddress',
    evmAddressSchema,
    [`0x${'aB'.repeat(20)}`],
    ['0x', `0x${'ab'.repeat(21)}`, `${'ab'.repeat(21)}`],
  ],
  [
    'amount',
    amountSchema,
    ['1', '340282366920938463463374607431768211455'],
    ['0', '01', '-1', '340282366920938463463374607431768211456', 1],
  ],
  [
    'chainKey',
    chainKeySchema,
    ['anvil', 'base-sepolia', '0'],
    ['', '-a', 'A', 'a b', 'a'.repeat(33)],
  ],
  ['tokenSymbol', tokenSymbolSchema, ['USDC', 'USDC.e'], ['', 'US DC', '$', 'x'.repeat(17)]],
  [
    'unixSeconds',
    unixSecondsSchema,
    [0, 1_795_000_000],
    [-1, 0.5, 2 ** 49, '1', Number.NaN, Number.POSITIVE_INFINITY],
  ],
  ['isoTime', isoTimeSchema, ['2026-11-01T09:00:00.000Z'], ['2026-11-01', 'now', 1, '']],
  [
    'url',
    urlSchema,
    ['http://127.0.0.1:8545', 'https://pool.example/x'],
    ['file:///etc/passwd', 'javascript:alert(1)', 'pool.example', '', 5],
  ],
])('%s', (_, schema, good, bad) => {
  it.each(good.map((value) => ({ value })))('accepts $value', ({ value }) => {
    expect(v.is(schema, value)).toBe(true);
  });
  it.each(bad.map((value) => ({ value })))('refuses $value', ({ value }) => {
    expect(v.is(schema, value)).toBe(false);
  });
});

describe('parseWire', () => {
  const schema = v.strictObject({
    name: v.string(),
    list: v.optional(v.array(v.strictObject({ amount: amountSchema }))),
  });

  it('returns the value', () => {
    expect(parseWire(schema, { name: 'a', list: [{ amount: '5' }] }, 'body')).toEqual({
      name: 'a',
      list: [{ amount: '5' }],
    });
  });

  it.each([
    ['a wrong type', { name: 5 }, 'body is malformed: name: must be a string'],
    ['a missing field', {}, 'body is malformed: name: missing'],
    [
      'an unknown field',
      { name: 'a', extra: 'x' },
      'body is malformed: extra: is not a known field',
    ],
    [
      'a deep problem',
      { name: 'a', list: [{ amount: '1' }, { amount: '0' }] },
      'body is malformed: list[1].amount: is not valid',
    ],
    ['no object', 'canary', 'body is malformed: (body): must be an object'],
    ['null', null, 'body is malformed: (body): must be an object'],
  ])('names the problem of %s in words of the body', (_, value, message) => {
    expect(() => parseWire(schema, value, 'body')).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, message }),
    );
  });

  it('names three problems and counts the rest', () => {
    const list = Array.from({ length: 5 }, () => ({ amount: 'x' }));
    expect(() => parseWire(schema, { name: 'a', list }, 'body')).toThrow(
      /list\[2\]\.amount: .*; and \d+ more$/,
    );
  });

  it.each([
    ['a value', { name: { canary: 'canary secret' } }],
    ['a text', { name: 'a', list: 'canary secret' }],
    ['a deep value', { name: 'a', list: [{ amount: 'canary secret' }] }],
    ['a key', { name: 'a', 'canary secret': 1 }],
    ['a long key', { name: 'a', [`canary${'a'.repeat(40)}`]: 1 }],
    ['the whole body', 'canary secret'],
  ])('repeats nothing of %s', (_, value) => {
    try {
      parseWire(schema, value, 'body');
      expect.unreachable();
    } catch (error) {
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('canary');
      expect(error).not.toHaveProperty('cause');
    }
  });
});
