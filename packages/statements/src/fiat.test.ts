import { expect, it } from 'vitest';
import { convertAmount, formatFiat, parseFiatRate } from './fiat.ts';

it.each([
  ['EUR=0.92', 1_500_000n, 6, '1.38'],
  // Half a cent is rounded up, less is not.
  ['EUR=1', 5_000n, 6, '0.01'],
  ['EUR=1', 4_999n, 6, '0.00'],
  ['JPY=151.25', 2_000_000n, 6, '303'],
  ['KWD=0.3075', 1_000_000_000_000_000_000n, 18, '0.308'],
  ['USD=1', 10n ** 30n, 6, '1000000000000000000000000.00'],
] as const)(
  'converts by %s: %s base units of %s decimals is %s',
  (text, amount, decimals, shown) => {
    const rate = parseFiatRate(text);
    expect(formatFiat(convertAmount(amount, decimals, rate), rate.currency)).toBe(shown);
  },
);

it.each(['EUR', 'EUR=', 'eur=1', 'EUR=0', 'EUR=1,5', 'EUR=-1', 'ZZZ=1', 'EUR=1e3'])(
  'refuses %s',
  (text) => {
    expect(() => parseFiatRate(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  },
);
