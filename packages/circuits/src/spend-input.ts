/**
 * The inputs of the spend circuits' witness generators (protocol §6; circom/spend.circom names every signal).
 *
 * @module
 */
import type { SpendShape } from '@pool/core';
import {
  parseAmountSignal,
  parseArray,
  parseElement,
  parseEligibilityPath,
  parseLeafIndex,
  parseSignal,
  type SignalValue,
} from './signal-values.ts';

/** Longest path of a note: 8 levels in its batch and 24 in the tree of batches. */
const noteLevels = 32;
/** Bits of the blinding b. */
const blindingBits = 248;
const subgroupOrder = 2736030358979909402780800718157159386076813972158567259200215660948447373041n;

/**
 * Input of a spend circuit with I inputs and O outputs. Secret as a whole: it contains v, W and payees. Arrays named input… have
 * length I; `amounts` and all after it have length O - 1, the outputs without the change.
 */
export type SpendCircuitInput = {
  /** Public digest HC(TAG_D_SPEND; opHash, noteRoot, …, rHi). */
  readonly D: SignalValue;
  /** Public challenge keccak256(D, x) mod r. */
  readonly z: SignalValue;
  /** Public value of the vector x at z. */
  readonly y: SignalValue;
  readonly assetId: SignalValue;
  /** Base units that leave the pool, below 2^128. */
  readonly withdrawAmount: SignalValue;
  /** Address as an integer below 2^160; 0 for a transfer. */
  readonly recipient: SignalValue;
  /** Unix seconds, below 2^64. */
  readonly deadline: SignalValue;
  /** Halves of sealedNotesHash, below 2^128. */
  readonly sealedLo: SignalValue;
  readonly sealedHi: SignalValue;
  readonly noteRoot: SignalValue;
  /** 0 in a spend that pays nobody. */
  readonly eligibilityRoot: SignalValue;
  /** Halves of rSig. */
  readonly rLo: SignalValue;
  readonly rHi: SignalValue;
  /** Halves of the coordinates of W. */
  readonly wxLo: SignalValue;
  readonly wxHi: SignalValue;
  readonly wyLo: SignalValue;
  readonly wyHi: SignalValue;
  /** v, 1 … l-1. */
  readonly viewingKey: SignalValue;
  /** Below 2^248. */
  readonly salt: SignalValue;
  /** The 248 bits of b, least significant first. */
  readonly blindingBits: readonly SignalValue[];
  /** 1 for a note, 0 for a dummy. */
  readonly inputEnabled: readonly SignalValue[];
  /** Base units, each below 2^128. 0 in a dummy. */
  readonly inputAmounts: readonly SignalValue[];
  readonly inputNonces: readonly SignalValue[];
  /** Levels of each note's path, 1 … 32. */
  readonly inputDepths: readonly SignalValue[];
  /** Bit i is set if the node is the right child at sibling i. Below 2^32. */
  readonly inputIndices: readonly SignalValue[];
  /** 32 siblings each, lowest level first; any values from the depth on. */
  readonly inputSiblings: readonly (readonly SignalValue[])[];
  /** Random field element from which the note nonces are derived. */
  readonly secret: SignalValue;
  readonly changeAmount: SignalValue;
  readonly changePx: SignalValue;
  readonly changePy: SignalValue;
  /** Base units, each below 2^128. 0 in a dummy. */
  readonly amounts: readonly SignalValue[];
  readonly walletIds: readonly SignalValue[];
  readonly px: readonly SignalValue[];
  readonly py: readonly SignalValue[];
  /** Leaf of walletIds[i] in the eligibility tree, below 4^10. Any value in range in a dummy. */
  readonly leafIndices: readonly SignalValue[];
  /** siblings[slot][level][0..2], lowest level first, in child order. */
  readonly siblings: readonly (readonly (readonly SignalValue[])[])[];
};

function below(limit: bigint) {
  return (value: unknown, signal: string): bigint => parseSignal(value, signal, limit);
}

const parseHalf = below(2n ** 128n);
const parseBit = below(2n);

/**
 * Checks shape and ranges of a spend's input before a witness is computed: the witness generator would reduce an element above r
 * without an error.
 * @throws PoolError `invalid_circuit_input`, which names the signal and never its value
 */
export function parseSpendCircuitInput(
  input: SpendCircuitInput,
  { inputs, outputs }: SpendShape,
): SpendCircuitInput {
  const payees = outputs - 1;
  const siblings = (value: unknown, signal: string) =>
    parseArray(value, signal, noteLevels, parseElement);
  return {
    D: parseElement(input.D, 'D'),
    z: parseElement(input.z, 'z'),
    y: parseElement(input.y, 'y'),
    assetId: parseElement(input.assetId, 'assetId'),
    withdrawAmount: parseAmountSignal(input.withdrawAmount, 'withdrawAmount'),
    recipient: below(2n ** 160n)(input.recipient, 'recipient'),
    deadline: below(2n ** 64n)(input.deadline, 'deadline'),
    sealedLo: parseHalf(input.sealedLo, 'sealedLo'),
    sealedHi: parseHalf(input.sealedHi, 'sealedHi'),
    noteRoot: parseElement(input.noteRoot, 'noteRoot'),
    eligibilityRoot: parseElement(input.eligibilityRoot, 'eligibilityRoot'),
    rLo: parseHalf(input.rLo, 'rLo'),
    rHi: parseHalf(input.rHi, 'rHi'),
    wxLo: parseHalf(input.wxLo, 'wxLo'),
    wxHi: parseHalf(input.wxHi, 'wxHi'),
    wyLo: parseHalf(input.wyLo, 'wyLo'),
    wyHi: parseHalf(input.wyHi, 'wyHi'),
    viewingKey: below(subgroupOrder)(input.viewingKey, 'viewingKey'),
    salt: below(2n ** 248n)(input.salt, 'salt'),
    blindingBits: parseArray(input.blindingBits, 'blindingBits', blindingBits, parseBit),
    inputEnabled: parseArray(input.inputEnabled, 'inputEnabled', inputs, parseBit),
    inputAmounts: parseArray(input.inputAmounts, 'inputAmounts', inputs, parseAmountSignal),
    inputNonces: parseArray(input.inputNonces, 'inputNonces', inputs, parseElement),
    inputDepths: parseArray(
      input.inputDepths,
      'inputDepths',
      inputs,
      below(BigInt(noteLevels) + 1n),
    ),
    inputIndices: parseArray(
      input.inputIndices,
      'inputIndices',
      inputs,
      below(2n ** BigInt(noteLevels)),
    ),
    inputSiblings: parseArray(input.inputSiblings, 'inputSiblings', inputs, siblings),
    secret: parseElement(input.secret, 'secret'),
    changeAmount: parseAmountSignal(input.changeAmount, 'changeAmount'),
    changePx: parseElement(input.changePx, 'changePx'),
    changePy: parseElement(input.changePy, 'changePy'),
    amounts: parseArray(input.amounts, 'amounts', payees, parseAmountSignal),
    walletIds: parseArray(input.walletIds, 'walletIds', payees, parseElement),
    px: parseArray(input.px, 'px', payees, parseElement),
    py: parseArray(input.py, 'py', payees, parseElement),
    leafIndices: parseArray(input.leafIndices, 'leafIndices', payees, parseLeafIndex),
    siblings: parseArray(input.siblings, 'siblings', payees, parseEligibilityPath),
  };
}
