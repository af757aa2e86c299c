// Amounts of commands: what has two meanings is refused, and what has no unit is warned of (docs/decisions/0008). The questions of a terminal
// are tested with the commands.
import type { AmountUnit } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { readTypedAmounts } from './typed-amount.ts';

async function read(
  text: string,
  format: AmountUnit['format'] = 'base-units',
  isUnasked = true,
  decimals: number | undefined = 6,
) {
  let shown = '';
  const terminal = {
    write(line: string) {
      shown += line;
    },
  };
  const rules = { token: 'USDC', decimals, format, isUnasked, ask: undefined, terminal };
  const [amount] = await readTypedAmounts([{ option: '--amount', text }], rules);
  return { amount, shown };
}

describe('an amount with one separator before three digits', () => {
  // The review's case: with --yes, 1.500USDC was read as 1.5.
  it.each([
    ['1.500USDC', 'base-units', '"1.500USDC" has more than one meaning; write 1.5USDC or 1500USDC'],
    ['1.500', 'decimal', '"1.500" has more than one meaning; write 1.5USDC or 1500USDC'],
    ['1.500', 'base-units', 'is not a whole number of base units; write 1.5USDC or 1500USDC'],
    ['1,500USDC', 'base-units', 'write 1500USDC or 1.5USDC'],
    ['12.125', 'decimal', 'write 12.125USDC with --number-format plain or 12125USDC'],
  ] as const)('is refused with both readings: %s, %s', async (text, format, message) => {
    for (const isUnasked of [true, false]) {
      await expect(read(text, format, isUnasked)).rejects.toMatchObject({
        code: 'invalid-amount',
        message: expect.stringContaining(message),
      });
    }
  });

  it.each([
    ['1.500USDC', 'plain', '1500000'],
    ['1.500', 'point-comma', '1500000000'],
    ['1,500', 'space-comma', '1500000'],
    ['1500', 'comma-point', '1500000000'],
    ['1234.500', 'decimal', '1234500000'],
    ['0.500USDC', 'base-units', '500000'],
  ] as const)(
    'is read in a declared format, and where it has one meaning: %s, %s',
    async (text, format, amount) => {
      expect(await read(text, format)).toEqual({ amount, shown: '' });
    },
  );
});

it('refuses the sign of all dollars', async () => {
  await expect(read('$100')).rejects.toMatchObject({
    message: '--amount: "$100" is in $, but the token is USDC',
  });
});

it('warns a script of a number without a unit that is less than one token', async () => {
  expect(await read('1000', 'base-units', false)).toEqual({
    amount: '1000',
    shown:
      'warning: --amount: 1000 has no unit, so it is in base units, which is 0.001 USDC; write 1000USDC if it is in tokens\n',
  });
  expect(await read('1000000', 'base-units', false)).toEqual({ amount: '1000000', shown: '' });
});
