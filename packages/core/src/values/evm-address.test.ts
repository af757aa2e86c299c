import { describe, expect, it } from 'vitest';
import { parseEvmAddress } from './evm-address.ts';

/** From EIP-55. */
const published = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

describe('parseEvmAddress', () => {
  it.each(published)('reads %s and its lower-case spelling', (address) => {
    expect(parseEvmAddress(address)).toBe(address);
    expect(parseEvmAddress(address.toLowerCase())).toBe(address);
  });

  it.each([
    ['a wrong checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['upper case', '0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED'],
    ['0X', '0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['no prefix', '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['19 bytes', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1bea'],
    ['21 bytes', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed00'],
    ['an ICAP code', 'XE65GB6LDNXYOFTX0NSV3FUWKOWIXAMJK36'],
    ['zero', `0x${'0'.repeat(40)}`],
    ['white space', ' 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['a line break', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n'],
    ['nothing', ''],
    ['a number', 5],
    ['undefined', undefined],
  ])('refuses %s', (_, value) => {
    expect(() => parseEvmAddress(value)).toThrow(
      expect.objectContaining({ code: 'invalid-address' }),
    );
  });
});
