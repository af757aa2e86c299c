/**
 * Separates a call that the chain executed and that failed from one that the node did not execute. ethers
 * reports both as a call exception, and a busy node must not look like a contract that refuses.
 *
 * @module
 */
import { isCallException } from 'ethers';

/** Names that nodes give to failures of the EVM, besides reverts. */
const evmFailure =
  /revert|out ?of ?gas|opcode|invalid ?jump|stack ?(?:under|over)flow|evm error|vm execution error|gas uint64 overflow|write protection/i;

/** `3` for a revert with data, `-32015` on nodes that have a code of their own for it. */
const executionCodes: readonly unknown[] = [3, -32015];

/** True when the node ran the call of an `eth_call` and it failed. */
export function isEvmFailure(error: unknown): boolean {
  if (!isCallException(error)) {
    return false;
  }
  const answered: unknown = error.info?.['error'];
  if (typeof answered !== 'object' || answered === null) {
    // Not the node's answer: ethers itself read a revert out of a result.
    return error.data !== null;
  }
  const code = 'code' in answered ? answered.code : undefined;
  const message = 'message' in answered ? answered.message : undefined;
  return executionCodes.includes(code) || (typeof message === 'string' && evmFailure.test(message));
}
