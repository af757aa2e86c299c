/**
 * Fees of a holder's own transaction, and of the one that replaces it. Only transactions of one nonce compete, and the chain executes at
 * most one of them.
 *
 * @module
 */

export type Fees = {
  /** Wei per unit of gas. */
  readonly maxFeePerGas: bigint;
  /** Wei per unit of gas, at most `maxFeePerGas`. */
  readonly maxPriorityFeePerGas: bigint;
};

/** What the chain asks for now. */
export type AskedFees = Fees & {
  /** The least `maxFeePerGas` with which a transaction would be mined in the next block. */
  readonly needed: bigint;
};

/** Doublings of the wait before a replacement, so that a chain that halts for hours does not lead to an absurd tip. */
const maxDoublings = 4;

/**
 * @param cap - wei per unit of gas
 * @returns undefined: the chain asks for more than the cap allows
 */
export function decideFees({ needed, ...asked }: AskedFees, cap: bigint): Fees | undefined {
  return needed > cap ? undefined : capFees(asked, cap);
}

/**
 * 12.5 % above the old fees, which every node accepts as a replacement, or what the chain asks for now when that is more.
 * @returns undefined: no fee within the cap is high enough to replace the old one
 */
export function decideReplacement(old: Fees, asked: AskedFees, cap: bigint): Fees | undefined {
  const maxPriorityFeePerGas = max(raise(old.maxPriorityFeePerGas), asked.maxPriorityFeePerGas);
  const maxFeePerGas = max(raise(old.maxFeePerGas), asked.maxFeePerGas, maxPriorityFeePerGas);
  const isTooMuch = max(raise(old.maxFeePerGas), raise(old.maxPriorityFeePerGas)) > cap;
  return isTooMuch ? undefined : capFees({ maxFeePerGas, maxPriorityFeePerGas }, cap);
}

/**
 * @param sent - how many transactions of the nonce there are, at least 1
 * @param newestAtMs - when the newest was signed
 */
export function isReplacementDue(
  sent: number,
  newestAtMs: number,
  nowMs: number,
  replaceAfterMs: number,
): boolean {
  return nowMs - newestAtMs >= replaceAfterMs * 2 ** Math.min(sent - 1, maxDoublings);
}

function capFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees, cap: bigint): Fees {
  return {
    maxFeePerGas: min(maxFeePerGas, cap),
    maxPriorityFeePerGas: min(maxPriorityFeePerGas, cap),
  };
}

// Rounded up: 12.5 % of a small fee is less than one wei, and an equal fee replaces nothing.
function raise(fee: bigint): bigint {
  return fee + (fee + 7n) / 8n + (fee === 0n ? 1n : 0n);
}

function max(...values: readonly bigint[]): bigint {
  let most = 0n;
  for (const value of values) {
    if (value > most) {
      most = value;
    }
  }
  return most;
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
