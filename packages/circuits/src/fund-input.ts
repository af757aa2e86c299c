/**
 * The inputs of the fund circuits' witness generators (protocol §6; circom/fund.circom names every signal).
 *
 * @module
 */
import {
  parseAmountSignal,
  parseArray,
  parseElement,
  parseEligibilityPath,
  parseLeafIndex,
  type SignalValue,
} from './signal-values.ts';

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

/**
 * Checks shape and ranges of a fund-N input before a witness is computed: the witness generator would reduce an element above r
 * without an error.
 * @param size N
 * @throws PoolError `invalid_circuit_input`, which names the signal and never its value
 */
export function parseFundCircuitInput(input: FundCircuitInput, size: number): FundCircuitInput {
  return {
    D: parseElement(input.D, 'D'),
    z: parseElement(input.z, 'z'),
    y: parseElement(input.y, 'y'),
    assetId: parseElement(input.assetId, 'assetId'),
    total: parseAmountSignal(input.total, 'total'),
    batchId: parseElement(input.batchId, 'batchId'),
    secret: parseElement(input.secret, 'secret'),
    eligibilityRoot: parseElement(input.eligibilityRoot, 'eligibilityRoot'),
    amounts: parseArray(input.amounts, 'amounts', size, parseAmountSignal),
    walletIds: parseArray(input.walletIds, 'walletIds', size, parseElement),
    px: parseArray(input.px, 'px', size, parseElement),
    py: parseArray(input.py, 'py', size, parseElement),
    leafIndices: parseArray(input.leafIndices, 'leafIndices', size, parseLeafIndex),
    siblings: parseArray(input.siblings, 'siblings', size, parseEligibilityPath),
  };
}
