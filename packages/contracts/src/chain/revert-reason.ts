/**
 * Why a mined transaction reverted. The chain does not keep the reason, so the call runs again on the state around its
 * block.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';
import { simulateCall } from './simulate-call.ts';

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
