/**
 * w, the wallet id (protocol §2). Notes and the eligibility tree contain it in place of W. Vectors: vectors/wallet-id.json.
 *
 * @module
 */
import {
  bytesToBigint,
  chainFamilies,
  decodeWalletPub,
  type Field,
  type Hex,
  hexToBytes,
  splitHalves,
} from '@pool/core';
import { poseidon } from '../hash/poseidon.ts';
import { ed25519WalletTag, walletTag } from '../hash/tags.ts';

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

/**
 * w = H_3(TAG_WALLET_ED, kLo, kHi) of an ed25519 W, read big-endian. The gate of an EVM registry refuses such a wallet.
 * @throws PoolError `invalid_wallet_pub`
 */
export function computeEd25519WalletId(walletPub: Hex): Field {
  // Refuses what is not a wallet's key.
  chainFamilies.solana.formatAddress(walletPub);
  const key = splitHalves(bytesToBigint(hexToBytes(walletPub, 32)));
  return poseidon([ed25519WalletTag, key.lo, key.hi]);
}
