/** Ceilings compared with the measured gas: packages/contracts/gas.snapshot. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { capByChain, transactionGasLimit } from '../../../evm-sender/src/gas-estimate.ts';
import { computeFundGasCeiling, computeSpendGasCeiling } from './gas-ceilings.ts';
import { erc1271Gas } from './shielded-pool.ts';

const snapshot = new URL('../../gas.snapshot', import.meta.url);
const measured = new Map(
  readFileSync(snapshot, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(': '))
    .map(([name = '', gas = '0']) => [name, BigInt(gas)]),
);

describe('the gas ceiling', () => {
  it.each([16, 64, 256])(
    'of a batch of %i leaves room for a full tree, a permit and a wallet',
    (size) => {
      const gas = measured.get(`fund-${size}`) ?? 0n;
      expect(gas).toBeGreaterThan(0n);
      // 18 hashes more than measured, each 14,000 with its read; a permit of 21,000; the part that EIP-150 withholds.
      const honest = gas + 18n * 14_000n + 21_000n + (erc1271Gas * 64n) / 63n;
      expect(computeFundGasCeiling(size)).toBeGreaterThan(honest + 50_000n);
      expect(computeFundGasCeiling(size)).toBeLessThan(honest + 300_000n);
      // For a funder with a key, the ceiling leaves the whole margin of the estimate.
      expect(computeFundGasCeiling(size)).toBeGreaterThan((gas * 130n) / 100n + 50_000n);
    },
  );

  it.each([
    ['spend-2x4', 'spend-2x4-send'],
    ['spend-16x8', 'spend-16x8-transfer'],
  ] as const)(
    'of %s leaves room for a full tree, the payment and a costly token',
    (circuit, name) => {
      const gas = measured.get(name) ?? 0n;
      expect(gas).toBeGreaterThan(0n);
      const honest = gas + 18n * 14_000n + 28_000n;
      expect(computeSpendGasCeiling(circuit)).toBeGreaterThan(honest + 100_000n);
      expect(computeSpendGasCeiling(circuit)).toBeLessThan(honest + 300_000n);
      expect(computeSpendGasCeiling(circuit)).toBeGreaterThan((gas * 130n) / 100n + 50_000n);
    },
  );

  it('is at most half of a block, and at most what EIP-7825 allows', () => {
    expect(capByChain(2_000_000n, undefined)).toBe(2_000_000n);
    expect(capByChain(2_000_000n, 30_000_000n)).toBe(2_000_000n);
    expect(capByChain(2_000_000n, 3_000_000n)).toBe(1_500_000n);
    expect(capByChain(50_000_000n, 200_000_000n)).toBe(transactionGasLimit);
  });
});
