/**
 * A connection to one EVM chain: static network, no cached answers, a time limit on every call.
 *
 * @module
 */
import { type EvmChainSettings, PoolError } from '@pool/core';
import { FetchRequest, JsonRpcProvider, Network } from 'ethers';
import { askChain } from './ask-chain.ts';

const callTimeoutMs = 20_000;

/**
 * Opens nothing yet.
 * @param timeoutMs - limit of one RPC call
 * @param callsAtOnce - the most calls of one moment that are one request. Not every node accepts more than one
 */
export function createEvmProvider(
  { rpcUrl, chainId }: Pick<EvmChainSettings, 'rpcUrl' | 'chainId'>,
  timeoutMs: number = callTimeoutMs,
  callsAtOnce = 1,
): JsonRpcProvider {
  const request = new FetchRequest(rpcUrl);
  request.timeout = timeoutMs;
  const network = Network.from(chainId);
  return new JsonRpcProvider(request, network, {
    staticNetwork: network,
    batchMaxCount: callsAtOnce,
    // ethers would answer repeated reads from a cache, and "is it final yet" must not be cached.
    cacheTimeout: -1,
  });
}

/**
 * Checks that the RPC serves the configured chain.
 * @throws PoolError `wrong_chain`, `chain_unreachable` (retryable)
 */
export async function assertChainId(
  provider: JsonRpcProvider,
  { chainId }: Pick<EvmChainSettings, 'chainId'>,
): Promise<void> {
  let answered: unknown;
  try {
    answered = await provider.send('eth_chainId', []);
  } catch (cause) {
    throw new PoolError('chain_unreachable', `the RPC of chain ${chainId} is unreachable`, {
      cause,
    });
  }
  if (typeof answered !== 'string' || Number(answered) !== chainId) {
    throw new PoolError('wrong_chain', `the RPC configured for ${chainId} serves another chain`);
  }
}

/** Runs reads and writes of one chain. */
export type ChainCall = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Requests to the right chain only: the first one checks the chain id of the RPC, and a check that failed is made again.
 * @throws PoolError in each call: `wrong_chain`, `chain_unreachable` (503, retryable), or the PoolError of its work
 */
export function createChainCall(
  provider: JsonRpcProvider,
  settings: Pick<EvmChainSettings, 'chainId'>,
): ChainCall {
  let check: Promise<void> | undefined;
  return (work) =>
    askChain(async () => {
      check ??= assertChainId(provider, settings);
      await check.catch((error: unknown) => {
        check = undefined;
        throw error;
      });
      return await work();
    });
}
