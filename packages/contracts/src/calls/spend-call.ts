/**
 * The calldata of a spend (protocol §8).
 *
 * @module
 */
import { bigintToHex32, PoolError } from '@pool/core';
import type { Result } from 'ethers';
import { type Groth16Proof, type SpendCall, shieldedPoolInterface } from './shielded-pool.ts';

/** What a transaction that calls `spend` carries. */
export type SpendArguments = {
  readonly operation: SpendCall;
  readonly proof: Groth16Proof;
  /** The sealed notes of all outputs in slot order, 209 bytes each, without anything between them. `0x` hex. */
  readonly sealedNotes: string;
};

/** Calldata of `spend`, `0x` hex. */
export function encodeSpend({ operation, proof, sealedNotes }: SpendArguments): string {
  return shieldedPoolInterface.encodeFunctionData('spend', [operation, proof, sealedNotes]);
}

/**
 * The opposite of `encodeSpend`: what a transaction carries.
 * @throws PoolError `invalid_request` when the data does not call `spend`
 */
export function decodeSpend(data: string): SpendArguments {
  const args = parseCall(data);
  const operation = args.getValue('operation') as Result;
  const proof = args.getValue('proof') as Result;
  const word = (name: string): string => bigintToHex32(operation.getValue(name) as bigint);
  const words = (name: string): string[] =>
    (operation.getValue(name) as Result).toArray().map((value: bigint) => bigintToHex32(value));
  return {
    operation: {
      token: operation.getValue('token') as string,
      withdrawAmount: operation.getValue('withdrawAmount') as bigint,
      recipient: operation.getValue('recipient') as string,
      deadline: operation.getValue('deadline') as bigint,
      nullifiers: words('nullifiers'),
      commitments: words('commitments'),
      outRoot: word('outRoot'),
      noteRoot: word('noteRoot'),
      eligibilityRoot: word('eligibilityRoot'),
      D: word('D'),
      maskedX: word('maskedX'),
      maskedY: word('maskedY'),
      slope: word('slope'),
      maskedDigest: word('maskedDigest'),
      rSig: word('rSig'),
      s: word('s'),
      parity: (operation.getValue('parity') as bigint) === 0n ? 0 : 1,
    },
    proof: proof.toObject(true) as Groth16Proof,
    sealedNotes: args.getValue('sealedNotes') as string,
  };
}

function parseCall(data: string): Result {
  const parsed = shieldedPoolInterface.getFunction('spend')?.selector === data.slice(0, 10);
  try {
    if (parsed) return shieldedPoolInterface.decodeFunctionData('spend', data);
  } catch {
    // Not the arguments of `spend`: the same answer as for another function.
  }
  throw new PoolError('invalid_request', 'the transaction does not call spend');
}
