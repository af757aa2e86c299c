/**
 * What differs between the wallets of an EVM pool and those of ed25519 chains (docs/decisions/0006): the spelling of W and P, and that no
 * pool, and so no gate, exists for the latter.
 *
 * @module
 */
import {
  type AccountAddress,
  chainFamilies,
  computeWalletAddress,
  type Field,
  findAccountFamily,
  type Hex,
  parseHex,
  parseWalletPub,
} from '@pool/core';
import {
  assertX25519PublicKey,
  computeEd25519WalletId,
  computeWalletId,
  decodeEncryptionPublicKey,
} from '@pool/notes';

export type WalletRules = {
  /** False: notes cannot be sealed to this wallet here, so no gate confirms it and it takes no leaf. */
  readonly hasPool: boolean;
  /** address(W). @throws PoolError `invalid_wallet_pub` */
  addressOf(walletPub: string): string;
  /** The wallet id. @throws PoolError `invalid_wallet_pub` */
  idOf(walletPub: Hex): Field;
  /** Checks a P. @throws PoolError `invalid_encryption_key` */
  assertKey(encryptionPublicKey: string): void;
};

const evmRules: WalletRules = {
  hasPool: true,
  addressOf: (walletPub) => computeWalletAddress(parseWalletPub(walletPub)),
  idOf: computeWalletId,
  assertKey: (key) => {
    decodeEncryptionPublicKey(key);
  },
};

/** The rules for the wallet of an account. */
export function rulesOf(address: AccountAddress): WalletRules {
  const family = findAccountFamily(address);
  return family === 'evm'
    ? evmRules
    : {
        hasPool: false,
        addressOf: (walletPub) => chainFamilies[family].formatAddress(walletPub),
        idOf: (walletPub) => computeEd25519WalletId(parseHex(walletPub, 32)),
        assertKey: assertX25519PublicKey,
      };
}
