/**
 * The address of an account at a platform: that of its wallet, in the spelling of the wallet's chain family (protocol §2).
 *
 * @module
 */
import type { Brand } from '../errors/brand.ts';
import { type EvmAddress, parseEvmAddress } from '../values/evm-address.ts';
import { chainFamilies, type Ed25519FamilyName, ed25519FamilyNames } from './families.ts';

/** Base58 (Solana) or StrKey `G…` (Stellar) of an ed25519 wallet key. */
export type Ed25519Address = Brand<string, 'Ed25519Address'>;

export type AccountAddress = EvmAddress | Ed25519Address;

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
  const found = (['evm', ...ed25519FamilyNames] as const).find((name) =>
    chainFamilies[name].addressForm.test(address),
  );
  // What has no family's form is refused as an address of Solana, whose form admits most texts.
  return found ?? 'solana';
}
