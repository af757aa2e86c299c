/**
 * When a transaction that is not mined is replaced, and with which fees. Only transactions of one nonce compete, and the
 * chain executes at most one of them: replacing can cost fees, and can never pay twice.
 *
 * @module
 */
import type { JsonRpcProvider } from 'ethers';

// The fees that a chain asks for now, and what a transaction under a cap offers.

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

export type Fees = {
  /** Wei per unit of gas. */
  readonly maxFeePerGas: bigint;
  /** Wei per unit of gas, at most `maxFeePerGas`. */
  readonly maxPriorityFeePerGas: bigint;
};

// Each replacement raises the tip, and the block producer keeps it. The wait doubles up to 16 times the first one, so a
// chain that halts for hours does not lead to an absurd tip.
const maxDoublings = 4;

/**
 * True when the newest of a nonce's transactions has waited long enough to be replaced.
 * @param sent - how many transactions of this nonce there are, at least 1
 * @param newestAtMs - when the newest was signed
 */
export function isReplacementDue(
  sent: number,
  newestAtMs: number,
  nowMs: number,
  replaceAfterMs: number,
): boolean {
  const waitMs = replaceAfterMs * 2 ** Math.min(sent - 1, maxDoublings);
  return nowMs - newestAtMs >= waitMs;
}

/**
 * Fees of a replacement: 12.5 % above the old ones, which every node accepts, or what the chain asks for now when that
 * is more.
 */
export function raiseFees(old: Fees, asked: Fees): Fees {
  const maxPriorityFeePerGas = max(raise(old.maxPriorityFeePerGas), asked.maxPriorityFeePerGas);
  const maxFeePerGas = max(raise(old.maxFeePerGas), asked.maxFeePerGas);
  return { maxPriorityFeePerGas, maxFeePerGas: max(maxFeePerGas, maxPriorityFeePerGas) };
}

/**
 * The same under a cap on the whole fee.
 * @param maxFeePerGas - wei per unit of gas; undefined: no cap
 * @returns undefined when no fee within the cap is high enough to replace the old one
 */
export function raiseFeesWithin(
  old: Fees,
  asked: Fees,
  maxFeePerGas: bigint | undefined,
): Fees | undefined {
  const raised = raiseFees(old, asked);
  if (maxFeePerGas === undefined) {
    return raised;
  }
  return raise(max(old.maxFeePerGas, old.maxPriorityFeePerGas)) > maxFeePerGas
    ? undefined
    : capFees(raised, maxFeePerGas);
}

/** Lowers the whole fee and the tip to the cap. */
export function capFees(fees: Fees, maxFeePerGas: bigint | undefined): Fees {
  return maxFeePerGas === undefined
    ? fees
    : {
        maxFeePerGas: min(fees.maxFeePerGas, maxFeePerGas),
        maxPriorityFeePerGas: min(fees.maxPriorityFeePerGas, maxFeePerGas),
      };
}

// Rounded up: 12.5 % of a small fee is less than one wei, and an equal fee replaces nothing.
function raise(fee: bigint): bigint {
  return fee + (fee + 7n) / 8n + (fee === 0n ? 1n : 0n);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
