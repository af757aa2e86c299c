/**
 * EVM chains: secp256k1 wallets, addresses of 20 bytes with an EIP-55 checksum.
 *
 * @module
 */
import { type EvmAddress, parseEvmAddress } from '../evm-address.ts';
import { computeWalletAddress, parseWalletPub } from '../wallet-pub.ts';
import type { ChainFamily } from './chain-family.ts';

export const evmFamily: ChainFamily<EvmAddress> = {
  name: 'evm',
  curve: 'secp256k1',
  parseAddress: parseEvmAddress,
  formatAddress: (walletPub) => computeWalletAddress(parseWalletPub(walletPub)),
};
