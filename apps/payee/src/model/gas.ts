/**
 * What a withdrawal without the platform needs of the chain's coin. Amounts are wei.
 *
 * @module
 */
import type { ExitPlan } from '@pool/wallet/browser';

type GasNeed =
  /** The network asks for more than the page ever pays. */
  | { readonly kind: 'too-dear' }
  | { readonly kind: 'enough'; readonly feeWei: bigint }
  | { readonly kind: 'unfunded'; readonly feeWei: bigint; readonly missingWei: bigint };

/** A transaction is sent only if its account could pay fees that rise while it waits: so many times the expected ones. */
const reserve = 3n;

export function computeGasNeed({ balanceWei, expectedWei }: ExitPlan['gas']): GasNeed {
  if (expectedWei === undefined) return { kind: 'too-dear' };
  const feeWei = roundUp(expectedWei);
  const missingWei = roundUp(expectedWei * reserve - balanceWei);
  return missingWei <= 0n ? { kind: 'enough', feeWei } : { kind: 'unfunded', feeWei, missingWei };
}

/**
 * What arrives if everything is sent on. Rollups charge for data on top of the gas, which no estimate shows: as much as the fee, or a
 * hundredth of the balance, stays for it.
 */
export function computeSendable(balanceWei: bigint, feeWei: bigint): bigint {
  const hundredth = balanceWei / 100n;
  const sendable = balanceWei - feeWei - (hundredth > feeWei ? hundredth : feeWei);
  return sendable > 0n ? sendable : 0n;
}

/** To four digits: for people. */
export function roundDown(wei: bigint): bigint {
  const step = 10n ** BigInt(Math.max(0, wei.toString().length - 4));
  return wei - (wei % step);
}

/** To two digits: people type it. */
function roundUp(wei: bigint): bigint {
  if (wei <= 0n) return 0n;
  const step = 10n ** BigInt(Math.max(0, wei.toString().length - 2));
  return ((wei + step - 1n) / step) * step;
}
