import { parseEvmAddress } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { computeGasNeed, computeSendable } from './gas.ts';

describe('computeGasNeed', () => {
  const quote = {
    from: parseEvmAddress('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'),
    capWei: 10n ** 18n,
  };

  it.each([
    [0n, 12_345n, { kind: 'unfunded', feeWei: 13_000n, missingWei: 38_000n }],
    [37_034n, 12_345n, { kind: 'unfunded', feeWei: 13_000n, missingWei: 1n }],
    [37_035n, 12_345n, { kind: 'enough', feeWei: 13_000n }],
    [10n ** 18n, 7n, { kind: 'enough', feeWei: 7n }],
    [10n ** 18n, undefined, { kind: 'too-dear' }],
  ] as const)(
    'finds, with %d wei and an expected fee of %s wei, %o',
    (balanceWei, expectedWei, need) => {
      expect(computeGasNeed({ ...quote, balanceWei, expectedWei })).toEqual(need);
    },
  );
});

it.each([
  [0n, 21n, 0n],
  [42n, 21n, 0n],
  [43n, 21n, 1n],
  [100_000n, 21n, 98_979n],
])('finds that of %s wei, with a fee of %s wei, %s arrive', (balanceWei, feeWei, sendable) => {
  expect(computeSendable(balanceWei, feeWei)).toBe(sendable);
});
