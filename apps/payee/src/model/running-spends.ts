/**
 * Payments that the page makes: none is sent before its owner has seen an equal one, and the account stays open while one runs.
 *
 * @module
 */
import type { SpendReceipt } from '@pool/core';
import type { ChosenKey } from '@pool/wallet/browser';
import type { Known, PayeeWallet, PaymentOutcome } from '../wallet-port.ts';

/** Pays, unless there is an equal payment that the owner was not shown. */
export async function payKnown(
  { key, earlier }: ChosenKey,
  known: Known['known'],
  pay: (key: string) => Promise<SpendReceipt>,
): Promise<PaymentOutcome> {
  const isShown =
    earlier === undefined || (earlier.state === known?.state && earlier.atMs === known.atMs);
  return isShown ? { receipt: await pay(key) } : { earlier };
}

/** @returns the wallet, and whether one of its withdrawals or transfers runs */
export function countSpends(wallet: PayeeWallet): {
  readonly wallet: PayeeWallet;
  readonly isSpending: () => boolean;
} {
  let running = 0;
  async function count<T>(spend: Promise<T>): Promise<T> {
    running += 1;
    try {
      return await spend;
    } finally {
      running -= 1;
    }
  }
  const { transfers } = wallet;
  return {
    wallet: {
      ...wallet,
      withdraw: (...given) => count(wallet.withdraw(...given)),
      transfers: { ...transfers, transfer: (...given) => count(transfers.transfer(...given)) },
    },
    isSpending: () => running > 0,
  };
}

/**
 * Knows when nobody has used the page for a time. A device that slept counts its time. While it is busy it counts as used.
 * @returns `use` notes that somebody touched the page, which is too late once it is idle
 */
export function createIdle(
  idleMs: number,
  isBusy: () => boolean,
  nowMs: () => number,
): { use(): void; isIdle(): boolean } {
  let usedAtMs = nowMs();
  const isOver = (): boolean => nowMs() - usedAtMs >= idleMs;
  return {
    use() {
      if (!isOver()) usedAtMs = nowMs();
    },
    isIdle() {
      if (isBusy()) usedAtMs = nowMs();
      return isOver();
    },
  };
}
