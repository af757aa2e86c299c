/**
 * Fees of an approval that replaces one with the same account nonce. A node takes a replacement only if it pays more in both fees, and
 * a signer refuses one that costs more than an approval may cost.
 *
 * @module
 */
import { maxApprovalFeeWei } from '@pool/signers';
import type { ApprovalTransaction, ChainFees } from '../../ports.ts';

/**
 * The same approval with fees that a node accepts as a replacement, and that the chain asks for now.
 * @returns undefined: it would cost more than an approval may cost
 */
export function raiseFees(
  transaction: ApprovalTransaction,
  now: ChainFees,
): ApprovalTransaction | undefined {
  const least = raise(transaction.maxFeePerGas);
  const most = maxApprovalFeeWei / transaction.gasLimit;
  if (least > most) {
    return undefined;
  }
  const maxFeePerGas = lesser(greater(least, now.maxFeePerGas), most);
  const tip = greater(raise(transaction.maxPriorityFeePerGas), now.maxPriorityFeePerGas);
  return { ...transaction, maxFeePerGas, maxPriorityFeePerGas: lesser(tip, maxFeePerGas) };
}

/** True if no block takes the transaction as long as the base fee is what it is. */
export function isOutbid(
  { maxFeePerGas }: Pick<ApprovalTransaction, 'maxFeePerGas'>,
  { baseFeePerGas }: ChainFees,
): boolean {
  return maxFeePerGas < baseFeePerGas;
}

/** More than an eighth more. Nodes ask for a tenth or an eighth. */
function raise(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

function lesser(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
