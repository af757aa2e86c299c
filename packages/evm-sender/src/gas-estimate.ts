/**
 * The gas limit of a transaction: the chain's estimate and a margin, at most the ceiling of its kind, which stays below what any chain
 * refuses: half of its block, and EIP-7825's limit for one transaction.
 *
 * @module
 */

import { type ErrorBody, PoolError, peerCode } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';
import { isOutOfGas } from './node-answer.ts';

export type Call = { readonly to: string; readonly data: string };
export type CallWithGas = Call & { readonly gasLimit: bigint };

// The note tree grows while a transaction waits, so the gas it needs can grow too.
const gasMarginPercent = 130n;
const gasMargin = 50_000n;

/** EIP-7825: no transaction may have more. */
export const transactionGasLimit = 2n ** 24n;

/** A payment of 0 to the own address; chains that charge for data posted elsewhere need more than 21,000. */
export const cancelGasCeiling = 200_000n;

/** The ceiling on a chain with this block gas limit. @param blockGasLimit - undefined: not known */
export function capByChain(ceiling: bigint, blockGasLimit: bigint | undefined): bigint {
  const caps = [ceiling, transactionGasLimit, (blockGasLimit ?? 2n * transactionGasLimit) / 2n];
  return caps.sort((a, b) => Number(a - b))[0] ?? ceiling;
}

/** The ceiling on this chain now: the size of blocks changes. */
export async function fetchGasCeiling(provider: JsonRpcProvider, ceiling: bigint): Promise<bigint> {
  return capByChain(ceiling, (await provider.getBlock('latest'))?.gasLimit);
}

/**
 * Estimates on the head: a node that estimates on pending transactions would run a replacement after the transaction that
 * it replaces. Estimates within the ceiling, so that foreign code cannot make the node compute more.
 * @throws PoolError `gas_ceiling_exceeded`; any other failure of the node
 */
export async function estimateGasLimit(
  provider: JsonRpcProvider,
  from: string,
  { to, data }: Call,
  kindCeiling: bigint,
): Promise<bigint> {
  const ceiling = await fetchGasCeiling(provider, kindCeiling);
  const request = { from, to, data, gas: `0x${ceiling.toString(16)}` };
  const exceeded = (cause?: unknown) => {
    const { code, message } = describeGasCeiling(ceiling);
    return new PoolError(peerCode(code), message, { cause });
  };
  const answer: unknown = await provider
    .send('eth_estimateGas', [request, 'latest'])
    .catch((cause: unknown) => {
      throw isOutOfGas(cause) ? exceeded(cause) : cause;
    });
  const estimate = BigInt(String(answer));
  if (estimate > ceiling) {
    throw exceeded();
  }
  const withMargin = (estimate * gasMarginPercent) / 100n + gasMargin;
  return withMargin < ceiling ? withMargin : ceiling;
}

export function describeGasCeiling(ceiling: bigint): ErrorBody {
  return {
    code: 'gas_ceiling_exceeded',
    message: `the call needs more than ${ceiling} gas, the most that the relayer gives it on this chain; a funder that is a contract must check its signature within 1000000 gas`,
  };
}
