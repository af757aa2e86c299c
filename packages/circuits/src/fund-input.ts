/**
 * The inputs of the fund circuits' witness generators (protocol §6; circom/fund.circom names every signal).
 *
 * @module
 */
import { eligibilityDepth, maxAmount, PoolError } from '@pool/core';
import { scalarFieldOrder } from '@pool/kernels';

/** A field element or amount: a BigInt, or its decimal string. Always below r. */
export type SignalValue = bigint | string;

/** Input of a fund-N circuit. Every array of slots has length N. Secret as a whole: it contains payees and amounts. */
export type FundCircuitInput = {
  /** Public digest H_5(assetId, total, batchId, eligibilityRoot, batchRoot). */
  readonly D: SignalValue;
  /** Public challenge keccak256(D, x) mod r. */
  readonly z: SignalValue;
  /** Public value of the vector x at z. */
  readonly y: SignalValue;
  readonly assetId: SignalValue;
  /** Sum of the amounts, base units, below 2^128. */
  readonly total: SignalValue;
  readonly batchId: SignalValue;
  /** Random field element from which the note nonces are derived. Only the funder knows it. */
  readonly secret: SignalValue;
  readonly eligibilityRoot: SignalValue;
  /** Base units, each below 2^128. 0 in a dummy slot. */
  readonly amounts: readonly SignalValue[];
  /** Wallet id w of each slot's owner. Random and non-zero in a dummy slot. */
  readonly walletIds: readonly SignalValue[];
  readonly px: readonly SignalValue[];
  readonly py: readonly SignalValue[];
  /** Leaf of walletIds[i] in the eligibility tree, below 4^10. Any value in range in a dummy slot. */
  readonly leafIndices: readonly SignalValue[];
  /** siblings[slot][level][0..2]: the other children of each node on the path, lowest level first, in child order. */
  readonly siblings: readonly (readonly (readonly SignalValue[])[])[];
};

const amountLimit = maxAmount + 1n;
const leafIndexLimit = 4n ** BigInt(eligibilityDepth);

function malformed(signal: string, why: string): PoolError {
  return new PoolError('invalid_circuit_input', `The circuit input ${signal} ${why}.`);
}

/** A canonical integer below `limit`: no sign, no leading zero. Values of r or more would be aliases of smaller ones. */
function parseSignal(value: unknown, signal: string, limit: bigint): bigint {
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

function parseArray<T>(
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

/**
 * Checks shape and ranges of a fund-N input before a witness is computed: the witness generator would reduce an element above r
 * without an error.
 * @param size N
 * @throws PoolError `invalid_circuit_input`, which names the signal and never its value
 */
export function parseFundCircuitInput(input: FundCircuitInput, size: number): FundCircuitInput {
  const element = (value: unknown, signal: string) => parseSignal(value, signal, scalarFieldOrder);
  const amount = (value: unknown, signal: string) => parseSignal(value, signal, amountLimit);
  const leafIndex = (value: unknown, signal: string) => parseSignal(value, signal, leafIndexLimit);
  const level = (value: unknown, signal: string) => parseArray(value, signal, 3, element);
  const path = (value: unknown, signal: string) =>
    parseArray(value, signal, eligibilityDepth, level);
  return {
    D: element(input.D, 'D'),
    z: element(input.z, 'z'),
    y: element(input.y, 'y'),
    assetId: element(input.assetId, 'assetId'),
    total: amount(input.total, 'total'),
    batchId: element(input.batchId, 'batchId'),
    secret: element(input.secret, 'secret'),
    eligibilityRoot: element(input.eligibilityRoot, 'eligibilityRoot'),
    amounts: parseArray(input.amounts, 'amounts', size, amount),
    walletIds: parseArray(input.walletIds, 'walletIds', size, element),
    px: parseArray(input.px, 'px', size, element),
    py: parseArray(input.py, 'py', size, element),
    leafIndices: parseArray(input.leafIndices, 'leafIndices', size, leafIndex),
    siblings: parseArray(input.siblings, 'siblings', size, path),
  };
}
