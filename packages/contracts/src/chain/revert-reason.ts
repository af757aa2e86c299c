/**
 * Why a mined transaction reverted. The chain does not keep the reason, so the call runs again on the state around its
 * block.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import { isEvmFailure, isOutOfGas } from '@pool/evm-sender';
import type { JsonRpcProvider } from 'ethers';
import { decodeRevert } from '../calls/decode-revert.ts';

// Tries a call on a chain's state without sending it.

type SimulatedCall = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly gasLimit: bigint;
  /** State on which it runs. Default: the head's. */
  readonly blockTag?: number | 'latest' | 'pending';
};

type SimulationOutcome =
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

const outOfGas: ErrorBody = { code: 'out_of_gas', message: 'the transaction ran out of gas' };

/** A revert whose reason cannot be found. */
export const unknownRevertReason: ErrorBody = {
  code: 'reverted',
  message: 'the transaction reverted; its reason is not available',
};

/** @returns the decoded reason, or {@link unknownRevertReason} */
export async function fetchRevertReason(
  provider: JsonRpcProvider,
  txHash: string,
): Promise<ErrorBody> {
  const [transaction, receipt] = await Promise.all([
    provider.getTransaction(txHash),
    provider.getTransactionReceipt(txHash),
  ]);
  if (transaction === null || receipt === null || transaction.to === null) {
    return unknownRevertReason;
  }
  if (receipt.gasUsed === transaction.gasLimit) {
    return outOfGas;
  }
  const { from, to, data, gasLimit } = transaction;
  // An earlier transaction of the same block may be the cause, so the state after the block comes first, then the state
  // before it.
  for (const blockTag of [receipt.blockNumber, receipt.blockNumber - 1]) {
    const outcome = await simulateCall(provider, { from, to, data, gasLimit, blockTag });
    if (outcome.kind !== 'success') {
      return outcome.kind === 'reverted' ? outcome.reason : outOfGas;
    }
  }
  return unknownRevertReason;
}
