/**
 * How an approval transaction that is voted on is stored and read.
 *
 * @module
 */
import type { ApprovalTransaction } from '../../ports.ts';
import type { RequestedApproval } from '../job/record.ts';

export function serializeApproval(transaction: ApprovalTransaction): RequestedApproval {
  const { value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, ...rest } = transaction;
  return {
    ...rest,
    value: value.toString(),
    gasLimit: gasLimit.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
  };
}

export function parseRequestedApproval(stored: RequestedApproval): ApprovalTransaction {
  const { value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, ...rest } = stored;
  return {
    ...rest,
    value: BigInt(value),
    gasLimit: BigInt(gasLimit),
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  };
}
