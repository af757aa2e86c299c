/**
 * The shielded pool as TypeScript sees it (protocol §8). Every field element and hash is 32-byte `0x` hex,
 * amounts and times are bigint. `spend-call.ts` has the calldata and the event of a spend.
 *
 * @module
 */
import { zeroWord } from '@pool/core';
import { BaseContract, type ContractRunner, Interface } from 'ethers';
import type { Read, Write } from '../artifact.ts';
import { shieldedPoolAbi } from '../generated/shielded-pool.ts';

export const shieldedPoolInterface = new Interface(shieldedPoolAbi);

/** Gas that the contract gives a contract wallet to answer for a signature (`FunderSignature.ERC1271_GAS`). */
export const erc1271Gas = 1_000_000n;

/** One batch, as the argument of `fund`. All of it becomes public on chain. */
export type FundBatch = {
  readonly funder: string;
  readonly token: string;
  /** Base units, 1 to 2^128 - 1. */
  readonly total: bigint;
  readonly batchNonce: string;
  readonly eligibilityRoot: string;
  readonly batchRoot: string;
  /** Exactly one of `batchSizes`. */
  readonly commitments: readonly string[];
  readonly sealedNotesHash: string;
  /** D of protocol §5. */
  readonly digest: string;
  /** Unix seconds; the batch can land while `block.timestamp <= deadline`. */
  readonly deadline: bigint;
};

/** One coordinate of a curve point: a bigint, or the same number as `0x` hex. */
export type Coordinate = bigint | string;

/** A Groth16 proof in the order of the EVM's pairing precompile. Public. */
export type Groth16Proof = {
  readonly a: readonly [Coordinate, Coordinate];
  /** G2: imaginary part first in each pair. */
  readonly b: readonly [readonly [Coordinate, Coordinate], readonly [Coordinate, Coordinate]];
  readonly c: readonly [Coordinate, Coordinate];
};

/** One spend, as the argument of `spend`. All of it becomes public on chain. The ABI has its numbers as uint256. */
export type SpendCall = {
  readonly token: string;
  /** Base units that leave the pool, 0 to 2^128 - 1. 0 means a transfer between notes. */
  readonly withdrawAmount: bigint;
  /** The zero address if and only if `withdrawAmount` is 0. */
  readonly recipient: string;
  /** Unix seconds; the spend can land while `block.timestamp <= deadline`. */
  readonly deadline: bigint;
  /** 2 or 16, dummies included. */
  readonly nullifiers: readonly string[];
  /** 4 for 2 nullifiers, 8 for 16. */
  readonly commitments: readonly string[];
  readonly outRoot: string;
  readonly noteRoot: string;
  /** Zero for a spend whose outputs, except for the change, are worth nothing. */
  readonly eligibilityRoot: string;
  /** D of protocol §5. */
  readonly D: string;
  /** W'x, below secp256k1's p. */
  readonly maskedX: string;
  /** W'y. */
  readonly maskedY: string;
  /** λ with λ·(W'x - Gx) = W'y - Gy mod p. */
  readonly slope: string;
  /** m', below secp256k1's n. */
  readonly maskedDigest: string;
  readonly rSig: string;
  readonly s: string;
  readonly parity: 0 | 1;
};

/** An EIP-2612 permit that is passed with `fund`. */
export type Permit = {
  /** Base units; 0 means that there is none. */
  readonly value: bigint;
  readonly deadline: bigint;
  readonly v: number;
  readonly r: string;
  readonly s: string;
};

/** For `fund` without a permit. */
export const noPermit: Permit = { value: 0n, deadline: 0n, v: 0, r: zeroWord, s: zeroWord };

export type ShieldedPoolMethods = {
  fund: Write<[FundBatch, Groth16Proof, string, Permit]>;
  /** @param args - the call, its proof, and the sealed notes of all outputs as one `0x` hex string */
  spend: Write<[SpendCall, Groth16Proof, string]>;
  voidBatch: Write<[string, string, string]>;
  enableToken: Write<[string]>;
  disableToken: Write<[string]>;
  pauseFunding: Write<[]>;
  resumeFunding: Write<[]>;
  grantRole: Write<[string, string]>;
  revokeRole: Write<[string, string]>;
  hasRole: Read<[string, string], boolean>;
  paused: Read<[], boolean>;
  /** @param args - funder, batchNonce; see `computeBatchId` of @pool/core */
  batchIdOf: Read<[string, string], string>;
  /** The batch root for which this funder used this nonce, or 32 zero bytes. */
  batchNonceUsed: Read<[string, string], string>;
  isVoided: Read<[string, string], boolean>;
  /** The outRoot of the spend that used this nullifier, or 32 zero bytes. */
  nullifierUsed: Read<[string], string>;
  isKnownRoot: Read<[string], boolean>;
  currentRoot: Read<[], string>;
  /** Leaves of the note tree, over all trees: batches of `fund`, and the outputs of each `spend`. */
  batchCount: Read<[], bigint>;
  assetIdOf: Read<[string], string>;
  isTokenEnabled: Read<[string], boolean>;
  eligibilityRegistry: Read<[], string>;
  /** @param args - nullifiers (0 for `fund`) and commitments of the circuit */
  verifierFor: Read<[bigint, bigint], string>;
};

export type ShieldedPool = BaseContract & ShieldedPoolMethods;

/** The pool at `address`. Without a signer as runner it can only be read. */
export function connectShieldedPool(address: string, runner?: ContractRunner): ShieldedPool {
  return BaseContract.from<ShieldedPoolMethods>(address, shieldedPoolAbi, runner);
}
