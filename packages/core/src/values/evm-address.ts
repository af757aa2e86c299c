/**
 * EVM addresses. All-lower-case is accepted, mixed case must have a valid EIP-55 checksum, and results
 * are always in checksum form.
 *
 * @module
 */

import { getAddress } from 'ethers';
import type { Brand } from '../errors/brand.ts';
import { PoolError } from '../errors/pool-error.ts';

/** A 20-byte EVM address in EIP-55 checksum form, not zero. Made by {@link parseEvmAddress}. */
export type EvmAddress = Brand<string, 'EvmAddress'>;

/** True for what {@link parseEvmAddress} accepts. */
export function isEvmAddress(value: unknown): boolean {
  return tryParseEvmAddress(value) !== undefined;
}

/** Undefined for what {@link parseEvmAddress} refuses. */
export function tryParseEvmAddress(value: unknown): EvmAddress | undefined {
  try {
    return parseEvmAddress(value);
  } catch {
    return undefined;
  }
}

/** @throws PoolError `invalid-address` for a wrong length, alphabet or checksum, and for the zero address */
export function parseEvmAddress(value: unknown): EvmAddress {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) {
    const digits = value.slice(2);
    const spelled = digits === digits.toLowerCase();
    const checksummed = getAddress(value.toLowerCase());
    if ((spelled || checksummed === value) && !/^0+$/.test(digits)) {
      return checksummed as EvmAddress;
    }
  }
  throw new PoolError(
    'invalid-address',
    'not an EVM address: 20 bytes of hex with 0x, all lower case or with a valid checksum, not zero',
  );
}
