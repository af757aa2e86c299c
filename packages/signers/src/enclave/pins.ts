/**
 * Pins of an enclave as text of a configuration.
 *
 * @module
 */

import { hexToBytes } from '@pool/core';
import type { AttestationPins } from '../attestation/verify-attestation.ts';
import { invalidConfiguration } from '../config.ts';

/**
 * @param text - SHA-256 of the root certificate: 64 hex digits in any case, with or without 0x and colons
 * @throws PoolError `invalid_configuration`
 */
export function parseRootSha256(text: string): Uint8Array {
  try {
    return hexToBytes(`0x${text.replaceAll(':', '').trim().toLowerCase().replace(/^0x/, '')}`, 32);
  } catch {
    throw invalidConfiguration('the SHA-256 of the root certificate must be 64 hex digits');
  }
}

/**
 * @param text - `0=<hex>,1=<hex>,2=<hex>`, 96 hex digits each, in any order
 * @throws PoolError `invalid_configuration`; zeros are refused, because they are those of an enclave in debug mode
 */
export function parsePcrPins(text: string): AttestationPins['pcrs'] {
  const message =
    'the PCR pins must be "0=<hex>,1=<hex>,2=<hex>" with 96 hex digits each, and none of them zero';
  const ordered = text
    .toLowerCase()
    .split(',')
    .map((part) => part.trim().replace(/=\s*(?:0x)?/, '='));
  const digits = /^0=([0-9a-f]{96}),1=([0-9a-f]{96}),2=([0-9a-f]{96})$/.exec(
    ordered.sort().join(','),
  );
  const [pcr0, pcr1, pcr2] = (digits ?? []).slice(1).map((hex) => hexToBytes(`0x${hex}`, 48));
  const isZero = (pcr: Uint8Array): boolean => pcr.every((byte) => byte === 0);
  if (!pcr0 || !pcr1 || !pcr2 || [pcr0, pcr1, pcr2].some(isZero)) {
    throw invalidConfiguration(message);
  }
  return [pcr0, pcr1, pcr2];
}
