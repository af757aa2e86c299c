/**
 * How much gas a transaction is given: what the chain estimates and a margin, never more than the ceiling of its kind.
 *
 * @module
 */
import { isOutOfGas } from '@pool/contracts';
import { type ErrorBody, PoolError, peerCode } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';
import { capByChain } from './gas-ceilings.ts';

export type Call = { readonly to: string; readonly data: string };
export type CallWithGas = Call & { readonly gasLimit: bigint };

// The note tree grows while a transaction waits, so the gas it needs can grow too.
const gasMarginPercent = 130n;
const gasMargin = 50_000n;

/** The ceiling on this chain: blocks change their size. */
export async function fetchGasCeiling(provider: JsonRpcProvider, ceiling: bigint): Promise<bigint> {
  return capByChain(ceiling, (await provider.getBlock('latest'))?.gasLimit);
}

/**
 * The estimate is asked for at the head: a node that estimates on pending transactions would let a replacement meet the
 * very one that it replaces. It is asked for within the ceiling, so that nobody's code makes the node work for more.
 * @throws PoolError `gas_ceiling_exceeded`; whatever the node answers otherwise
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
