/**
 * EVM chains: secp256k1 wallets, addresses of 20 bytes with an EIP-55 checksum.
 *
 * @module
 */
import { type EvmAddress, parseEvmAddress } from '../values/evm-address.ts';
import { computeWalletAddress, parseWalletPub } from '../values/wallet-pub.ts';
import type { ChainFamily } from './chain-family.ts';

export const evmFamily = {
  name: 'evm',
  curve: 'secp256k1',
  addressForm: /^0x/,
  parseAddress: parseEvmAddress,
  formatAddress: (walletPub) => computeWalletAddress(parseWalletPub(walletPub)),
} as const satisfies ChainFamily<EvmAddress>;
