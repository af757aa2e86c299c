/** Addresses with checksums: EIP-55, "Test Cases". */
import { parseEvmAddress } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { readDestination } from './destination.ts';

const own = {
  address: parseEvmAddress('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
  name: 'your own wallet',
};
const pool = parseEvmAddress('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359');
function read(text: string) {
  return readDestination(text, [own], [pool]);
}

describe('readDestination', () => {
  it('accepts a known address in either spelling without a warning', () => {
    expect(read(own.address)).toEqual({ kind: 'address', address: own.address, warnings: [] });
    expect(read(` ${own.address.toLowerCase()}\n`)).toMatchObject({ warnings: [] });
  });

  it('warns of an address that was never used', () => {
    expect(read('0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB')).toMatchObject({
      kind: 'address',
      warnings: [{ kind: 'new-address' }],
    });
  });

  it('warns when lower case hides the checksum', () => {
    expect(read('0xdbf03b407c01e7cd3cbea99509d93f8dddc8c6fb')).toMatchObject({
      warnings: [{ kind: 'new-address' }, { kind: 'no-checksum' }],
    });
  });

  it('warns of an address whose ends are those of a known one', () => {
    expect(read(`0x5aae${'0'.repeat(32)}eaed`)).toMatchObject({
      warnings: [{ kind: 'looks-like', known: own }, { kind: 'no-checksum' }],
    });
  });

  it.each([
    [own.address.replace('aA', 'Aa'), 'wrong-checksum'],
    [own.address.slice(0, -1), 'wrong-length'],
    // The Cyrillic letter a.
    [own.address.replace('a', '\u0430'), 'foreign-characters'],
    [own.address.replace('5', '5\u200b'), 'foreign-characters'],
    [`0x02${'ab'.repeat(32)}`, 'wallet-public-key'],
    ['vitalik.eth', 'not-an-address'],
    [`0x${'0'.repeat(40)}`, 'not-an-address'],
    [pool, 'pool-contract'],
  ])('refuses %s: %s', (text, problem) => {
    expect(read(text)).toEqual({ kind: 'mistake', problem });
  });

  it('knows an empty field from a wrong one', () => {
    expect(read(' ')).toEqual({ kind: 'empty' });
  });
});
