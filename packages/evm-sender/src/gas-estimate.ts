/**
 * The gas limit of a transaction: the chain's estimate and a margin, at most the ceiling of its kind.
 *
 * @module
 */

import { type ErrorBody, PoolError, peerCode } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';
import { isOutOfGas } from '../chain/node-answer.ts';
import { capByChain } from './gas-ceilings.ts';

export type Call = { readonly to: string; readonly data: string };
export type CallWithGas = Call & { readonly gasLimit: bigint };

// The note tree grows while a transaction waits, so the gas it needs can grow too.
const gasMarginPercent = 130n;
const gasMargin = 50_000n;

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
  let estimate: bigint;
  try {
    estimate = BigInt(String(await provider.send('eth_estimateGas', [request, 'latest'])));
  } catch (cause) {
    if (isOutOfGas(cause)) {
      const { code, message } = describeGasCeiling(ceiling);
      throw new PoolError(peerCode(code), message, { cause });
    }
    throw cause;
  }
  if (estimate > ceiling) {
    const { code, message } = describeGasCeiling(ceiling);
    throw new PoolError(peerCode(code), message);
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
