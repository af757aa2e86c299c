/**
 * `read-only`: W without its key, for a machine that has only the viewing key. It gives identity, balance and history. It signs
 * nothing: each method that would is refused with `holder_read_only`.
 *
 * @module
 */
import { type Hex, PoolError, parseWalletPub } from '@pool/core';
import type { HolderSigner } from './holder-signer.ts';

/**
 * A holder that cannot sign. EVM wallets only, because no pool of this repository is on another family of chains.
 * @param walletPub - W, public
 * @throws PoolError `invalid_wallet_pub`
 */
export function createReadOnlyHolder(walletPub: Hex): HolderSigner {
  const parsed = parseWalletPub(walletPub);
  return {
    name: 'read-only',
    curve: 'secp256k1',
    deterministic: false,
    walletPub: async () => parsed,
    signIn: async () => refuse('sign in or enrol'),
    signViewingKeyText: async () => refuse('derive a viewing key'),
    signSpend: async () => refuse('spend'),
    signDisclosure: async () => refuse('sign a disclosure'),
  };
}

function refuse(what: string): never {
  throw new PoolError(
    'holder_read_only',
    `this holder has its W and its viewing key and no signer key, so it reads balance and history and cannot ${what}; use the agent that has the key of W`,
  );
}
