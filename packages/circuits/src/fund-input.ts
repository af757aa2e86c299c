/**
 * What the witness generators of fund-16 and fund-64 take (protocol §6; circom/fund.circom names every signal).
 *
 * @module
 */

/** Field element or amount: a BigInt, or its decimal string. Always below r. */
export type SignalValue = bigint | string;

/** Depth of the eligibility tree; each level has three siblings. */
export const ELIGIBILITY_DEPTH = 10;

/**
 * Input of a fund-N circuit; every array of slots has length N. Secret as a whole: it names payees and amounts.
 */
export type FundCircuitInput = {
  /** Public digest H_5(assetId, total, batchNonce, eligibilityRoot, batchRoot). */
  readonly D: SignalValue;
  /** Public challenge keccak256(D, x) mod r. */
  readonly z: SignalValue;
  /** Public value of the vector x at z. */
  readonly y: SignalValue;
  readonly assetId: SignalValue;
  /** Sum of the amounts, base units, below 2^128. */
  readonly total: SignalValue;
  readonly batchNonce: SignalValue;
  /** Random field element behind the note nonces; known to the funder alone. */
  readonly secret: SignalValue;
  readonly eligibilityRoot: SignalValue;
  /** Base units, each below 2^128; 0 in a dummy slot. */
  readonly amounts: readonly SignalValue[];
  /** Wallet id w of each slot's owner; random and non-zero in a dummy slot. */
  readonly walletIds: readonly SignalValue[];
  readonly px: readonly SignalValue[];
  readonly py: readonly SignalValue[];
  /** Leaf of walletIds[i] in the eligibility tree, below 4^10; anything in range in a dummy slot. */
  readonly leafIndices: readonly SignalValue[];
  /** siblings[slot][level][0..2]: the other children of each node on the path, lowest level first, in child order. */
  readonly siblings: readonly (readonly (readonly SignalValue[])[])[];
};
