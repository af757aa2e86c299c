/**
 * Upper bounds on the gas of a call of the pool and its registry (docs/decisions/0009). A funder partly decides how much gas
 * a call needs, so an estimate alone is not a limit. A ceiling covers what an honest call can need.
 *
 * @module
 */

import { type BatchSize, batchSizes, type SpendCircuit } from '@pool/core';
import { erc1271Gas } from './shielded-pool.ts';

/** `fund` as packages/contracts/gas.snapshot measures it: a funder with a key, an allowance, 1,000 batches before. */
const measuredFundGas: Readonly<Record<BatchSize, bigint>> = {
  16: 439_256n,
  64: 481_657n,
  256: 651_528n,
};

/** From 6 hashes after 1,000 batches to 24 in a full tree, about 14,000 with the read of a word each. */
const treeGrowthGas = 255_000n;

/** Measured 21,000 on top of an allowance; tokens differ. */
const permitGas = 50_000n;

/** A token behind a proxy that checks lists needs more than the measured one. */
const tokenGas = 100_000n;

/** Gas that the contract requires before it calls a wallet, and the calldata of the longest signature (1,024 bytes). */
const walletGas = (erc1271Gas * 64n) / 63n + 20_000n;

/** `voidBatch` without the wallet's gas: base cost, one word written, the event. Measured 53,000. */
const voidGas = 80_000n;

/** `publish` writes two words; measured 75,000. */
export const publishGasCeiling = 200_000n;

export const voidGasCeiling = voidGas + walletGas;

/** @param size - slots of the batch; an unknown size gets the ceiling of the largest */
export function computeFundGasCeiling(size: number): bigint {
  const known = batchSizes.find((one) => one === size);
  const measured = known === undefined ? findLargest(measuredFundGas) : measuredFundGas[known];
  return measured + treeGrowthGas + permitGas + tokenGas + walletGas;
}

/** `spend` as packages/contracts/gas.snapshot measures it: a withdrawal of 2 inputs, a transfer of 16. */
const measuredSpendGas: Readonly<Record<SpendCircuit, bigint>> = {
  'spend-2x4': 486_860n,
  'spend-16x8': 806_460n,
};

/** A spend asks no wallet contract, so its gas hardly varies: a full tree, the payment, and a token behind a proxy. Undefined: the largest. */
export function computeSpendGasCeiling(circuit: SpendCircuit | undefined): bigint {
  const measured =
    circuit === undefined ? findLargest(measuredSpendGas) : measuredSpendGas[circuit];
  return measured + treeGrowthGas + 2n * tokenGas;
}

function findLargest(gas: Readonly<Record<string, bigint>>): bigint {
  return Object.values(gas).toSorted((one, other) => Number(other - one))[0] ?? 0n;
}
