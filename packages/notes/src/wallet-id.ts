/**
 * w, the wallet id (protocol §2). Notes and the eligibility tree contain it in place of W. Vectors: vectors/wallet-id.json.
 *
 * @module
 */
import { decodeWalletPub, type Field, type Hex, splitHalves } from '@pool/core';
import { poseidon } from './poseidon.ts';
import { walletTag } from './tags.ts';

/**
 * w = H_5(TAG_WALLET, xLo, xHi, yLo, yHi) of W's coordinates. Not secret by itself, but everyone who knows W can compute it.
 * Treat a list of wallet ids like a list of wallets.
 *
 * @throws PoolError `invalid_wallet_pub`
 */
export function computeWalletId(walletPub: Hex): Field {
  const point = decodeWalletPub(walletPub);
  const x = splitHalves(point.x);
  const y = splitHalves(point.y);
  return poseidon([walletTag, x.lo, x.hi, y.lo, y.hi]);
}
