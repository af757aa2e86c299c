/**
 * The address of an account at a platform: that of its wallet, in the spelling of the wallet's chain family (protocol §2).
 *
 * @module
 */
import type { Brand } from './brand.ts';
import type { ChainFamilyName } from './chain-families/chain-family.ts';
import { chainFamilies } from './chain-families/families.ts';
import { type EvmAddress, parseEvmAddress } from './evm-address.ts';

/** Base58 (Solana) or StrKey `G…` (Stellar) of an ed25519 wallet key. */
export type Ed25519Address = Brand<string, 'Ed25519Address'>;

export type AccountAddress = EvmAddress | Ed25519Address;

/** The families whose ed25519 wallets sign in (docs/decisions/0006). A family with addresses only is not among them. */
export type Ed25519FamilyName = Extract<ChainFamilyName, 'solana' | 'stellar'>;

/** @throws PoolError `invalid-address` */
export function parseEd25519Address(family: Ed25519FamilyName, text: unknown): Ed25519Address {
  return chainFamilies[family].parseAddress(text) as Ed25519Address;
}

/** An address of any family. No text is an address of two. @throws PoolError `invalid-address` */
export function parseAccountAddress(text: unknown): AccountAddress {
  const family = typeof text === 'string' ? findAccountFamily(text) : 'evm';
  return family === 'evm' ? parseEvmAddress(text) : parseEd25519Address(family, text);
}

/** The family that an account's address belongs to. It is not checked. */
export function findAccountFamily(address: string): 'evm' | Ed25519FamilyName {
  if (address.startsWith('0x')) {
    return 'evm';
  }
  // Solana's addresses have at most 44 characters.
  return address.length === 56 ? 'stellar' : 'solana';
}
