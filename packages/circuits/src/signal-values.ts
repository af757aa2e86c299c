/**
 * Checks of single values of a witness input, before a witness is computed: the witness generator would reduce an element above r
 * without an error.
 *
 * @module
 */
import { eligibilityDepth, maxAmount, PoolError } from '@pool/core';
import { scalarFieldOrder } from '@pool/kernels';

/** A field element or amount: a BigInt, or its decimal string. Always below r. */
export type SignalValue = bigint | string;

const amountLimit = maxAmount + 1n;
const leafIndexLimit = 4n ** BigInt(eligibilityDepth);

function malformed(signal: string, why: string): PoolError {
  return new PoolError('invalid_circuit_input', `The circuit input ${signal} ${why}.`);
}

/**
 * A canonical integer below `limit`: no sign, no leading zero. Values of r or more would be aliases of smaller ones.
 * @throws PoolError `invalid_circuit_input`, which names the signal and never its value
 */
export function parseSignal(value: unknown, signal: string, limit: bigint): bigint {
  const isCanonical = typeof value === 'string' && /^(0|[1-9][0-9]{0,77})$/.test(value);
  if (typeof value !== 'bigint' && !isCanonical) {
    throw malformed(signal, 'is not a BigInt or a canonical decimal string');
  }
  const parsed = BigInt(value);
  if (parsed < 0n || parsed >= limit) {
    throw malformed(signal, 'is out of range');
  }
  return parsed;
}

/** An array of exactly `length` items. @throws PoolError `invalid_circuit_input` */
export function parseArray<T>(
  value: unknown,
  signal: string,
  length: number,
  parseItem: (item: unknown, signal: string) => T,
): T[] {
  if (!Array.isArray(value) || value.length !== length) {
    throw malformed(signal, `does not have ${length} elements`);
  }
  return value.map((item: unknown, i) => parseItem(item, `${signal}[${i}]`));
}

/** Below r. @throws PoolError `invalid_circuit_input` */
export function parseElement(value: unknown, signal: string): bigint {
  return parseSignal(value, signal, scalarFieldOrder);
}

/** Base units below 2^128. @throws PoolError `invalid_circuit_input` */
export function parseAmountSignal(value: unknown, signal: string): bigint {
  return parseSignal(value, signal, amountLimit);
}

/** A place in the eligibility tree, below 4^10. @throws PoolError `invalid_circuit_input` */
export function parseLeafIndex(value: unknown, signal: string): bigint {
  return parseSignal(value, signal, leafIndexLimit);
}

/** An eligibility path: ten levels of three siblings. @throws PoolError `invalid_circuit_input` */
export function parseEligibilityPath(value: unknown, signal: string): bigint[][] {
  return parseArray(value, signal, eligibilityDepth, (level, name) =>
    parseArray(level, name, 3, parseElement),
  );
}
