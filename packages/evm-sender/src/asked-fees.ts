/**
 * The fees that a chain asks for now, and what a transaction under a cap offers.
 *
 * @module
 */
import type { JsonRpcProvider } from 'ethers';
import { capFees, type Fees } from './replacement.ts';

/** What the chain asks for now. */
export type AskedFees = Fees & {
  /** The least `maxFeePerGas` with which a transaction would be mined in the next block. */
  readonly needed: bigint;
};

/** Wei per unit of gas, where the node names no tip. */
const defaultTip = 1_000_000_000n;

/** @returns `baseFeePerGas`, in wei, is undefined on a chain without one */
export async function fetchFees(
  provider: JsonRpcProvider,
): Promise<AskedFees & { readonly baseFeePerGas: bigint | undefined }> {
  const [fees, head] = await Promise.all([provider.getFeeData(), provider.getBlock('latest')]);
  const maxPriorityFeePerGas = fees.maxPriorityFeePerGas ?? defaultTip;
  const maxFeePerGas = fees.maxFeePerGas ?? fees.gasPrice ?? maxPriorityFeePerGas;
  const baseFeePerGas = head?.baseFeePerGas ?? undefined;
  // The node asks for twice the base fee, in case it rises; once is enough now.
  const needed = baseFeePerGas === undefined ? maxFeePerGas : baseFeePerGas + maxPriorityFeePerGas;
  return { maxPriorityFeePerGas, maxFeePerGas, needed, baseFeePerGas };
}

/**
 * @param cap - wei per unit of gas; undefined: no cap
 * @returns undefined: a transaction within the cap would not be mined now
 */
export function decideFees(
  { needed, maxFeePerGas, maxPriorityFeePerGas }: AskedFees,
  cap: bigint | undefined,
): Fees | undefined {
  return cap !== undefined && needed > cap
    ? undefined
    : capFees({ maxFeePerGas, maxPriorityFeePerGas }, cap);
}
