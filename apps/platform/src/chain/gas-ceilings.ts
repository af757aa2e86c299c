/**
 * The most gas that a transaction of the platform is ever given (docs/decisions/0027). What a call takes is partly its
 * funder's choice, so an estimate alone is no limit. A ceiling is what an honest call can need, and below what any chain
 * refuses: half of its block, and EIP-7825's limit for one transaction.
 *
 * @module
 */
import { erc1271Gas } from '@pool/contracts';

/** `fund` as packages/contracts/gas.snapshot measures it: a funder with a key, an allowance, 1,000 batches before. */
const measuredFundGas: ReadonlyMap<number, bigint> = new Map([
  [16, 439_256n],
  [64, 481_657n],
  [256, 651_528n],
]);

/** From 6 hashes after 1,000 batches to 24 in a full tree, about 14,000 with the read of a word each. */
const treeGrowthGas = 255_000n;

/** Measured 21,000 on top of an allowance; tokens differ. */
const permitGas = 50_000n;

/** A token behind a proxy, with lists to look at, takes more than the measured one. */
const tokenGas = 100_000n;

/** What the contract asks for before it asks a wallet, and the calldata of the longest signature (1,024 bytes). */
const walletGas = (erc1271Gas * 64n) / 63n + 20_000n;

/** `voidBatch` besides the wallet: base cost, one word written, the event. Measured 53,000. */
const voidGas = 80_000n;

/** `publish` writes two words; measured 75,000. */
export const publishGasCeiling = 200_000n;

/** A payment of 0 to oneself; chains that charge for data posted elsewhere take more than 21,000. */
export const cancelGasCeiling = 200_000n;

export const voidGasCeiling = voidGas + walletGas;

/** EIP-7825: no transaction may have more. */
export const transactionGasLimit = 2n ** 24n;

/** @param size - slots of the batch; what is no size of the pool gets the ceiling of the largest */
export function computeFundGasCeiling(size: number): bigint {
  const measured = measuredFundGas.get(size) ?? 651_528n;
  return measured + treeGrowthGas + permitGas + tokenGas + walletGas;
}

/** The same on a chain with such blocks. @param blockGasLimit - undefined: not known */
export function capByChain(ceiling: bigint, blockGasLimit: bigint | undefined): bigint {
  const caps = [ceiling, transactionGasLimit, (blockGasLimit ?? 2n * transactionGasLimit) / 2n];
  return caps.sort((a, b) => Number(a - b))[0] ?? ceiling;
}
