/**
 * Screening: decides whether a wallet may be on the list. This one reads a deny list or an allow list from a
 * file at each call, so that an edit takes effect at once. Another implementation can replace it.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { computeWalletAddress, PoolError, type WalletPub } from '@pool/core';
import * as v from 'valibot';

/** Resolves to whether the wallet passes. */
export type Screening = (walletPub: WalletPub) => Promise<boolean>;

const screeningFileSchema = v.strictObject({
  mode: v.picklist(['deny-list', 'allow-list']),
  /** EVM addresses, or wallet public keys. */
  wallets: v.array(v.pipe(v.string(), v.regex(/^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{66})$/))),
});

export function passEverybody(): Promise<boolean> {
  return Promise.resolve(true);
}

/** @throws PoolError (on use) `publication_failed` (503): an unreadable list admits no wallet */
export function createFileScreening(path: string): Screening {
  return async (walletPub) => {
    const list = await readList(path);
    const names = [walletPub, computeWalletAddress(walletPub)].map((name) => name.toLowerCase());
    const listed = list.wallets.some((wallet) => names.includes(wallet.toLowerCase()));
    return list.mode === 'allow-list' ? listed : !listed;
  };
}

async function readList(path: string): Promise<v.InferOutput<typeof screeningFileSchema>> {
  try {
    return v.parse(screeningFileSchema, JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new PoolError(
      'publication_failed',
      'the screening list cannot be read; try again later',
      { cause },
    );
  }
}
