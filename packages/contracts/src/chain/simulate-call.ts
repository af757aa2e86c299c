/**
 * Tries a call on a chain's state without sending it.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import { isEvmFailure, isOutOfGas } from '@pool/evm-sender';
import type { JsonRpcProvider } from 'ethers';
import { decodeRevert } from '../calls/decode-revert.ts';

export type SimulatedCall = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly gasLimit: bigint;
  /** State on which it runs. Default: the head's. */
  readonly blockTag?: number;
};

export type SimulationOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'out-of-gas' }
  | { readonly kind: 'reverted'; readonly reason: ErrorBody };

/**
 * A revert is an outcome. Every other failure is thrown: a call must not count as reverted because the node was too busy
 * to run it.
 */
export async function simulateCall(
  provider: JsonRpcProvider,
  call: SimulatedCall,
): Promise<SimulationOutcome> {
  try {
    await provider.call(call);
    return { kind: 'success' };
  } catch (error) {
    if (isOutOfGas(error)) {
      return { kind: 'out-of-gas' };
    }
    if (isEvmFailure(error)) {
      return { kind: 'reverted', reason: decodeRevert(error) };
    }
    throw error;
  }
}
