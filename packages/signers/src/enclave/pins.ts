/**
 * Pins of an enclave as text of a configuration.
 *
 * @module
 */
import { hexToBytes, PoolError } from '@pool/core';
import type { AttestationPins } from '../attestation/verify-attestation.ts';

/**
 * @param text - SHA-256 of the root certificate: 64 hex digits in any case, with or without 0x and colons
 * @throws PoolError `invalid_configuration`
 */
export function parseRootSha256(text: string): Uint8Array {
  return parseDigits(
    text.replaceAll(':', ''),
    32,
    'the SHA-256 of the root certificate must be 64 hex digits',
  );
}

/**
 * @param text - `0=<hex>,1=<hex>,2=<hex>`, 96 hex digits each, in any order
 * @throws PoolError `invalid_configuration`; zeros are refused, because they are those of an enclave in debug mode
 */
export function parsePcrPins(text: string): AttestationPins['pcrs'] {
  const message =
    'the PCR pins must be "0=<hex>,1=<hex>,2=<hex>" with 96 hex digits each, and none of them zero';
  const pins = new Map<string, Uint8Array>();
  for (const part of text.split(',')) {
    const [index = '', value = '', ...rest] = part.trim().split('=');
    if (!['0', '1', '2'].includes(index) || pins.has(index) || rest.length > 0) {
      throw new PoolError('invalid_configuration', message);
    }
    pins.set(index, parseDigits(value, 48, message));
  }
  const [pcr0, pcr1, pcr2] = ['0', '1', '2'].map((index) => pins.get(index));
  if (pcr0 === undefined || pcr1 === undefined || pcr2 === undefined) {
    throw new PoolError('invalid_configuration', message);
  }
  if ([pcr0, pcr1, pcr2].some((pcr) => pcr.every((byte) => byte === 0))) {
    throw new PoolError('invalid_configuration', message);
  }
  return [pcr0, pcr1, pcr2];
}

function parseDigits(text: string, length: number, message: string): Uint8Array {
  try {
    const digits = text.trim().toLowerCase().replace(/^0x/, '');
    return hexToBytes(`0x${digits}`, length);
  } catch {
    throw new PoolError('invalid_configuration', message);
  }
}
