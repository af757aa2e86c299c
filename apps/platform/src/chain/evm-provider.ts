/**
 * A connection to one EVM chain, with the bounds the platform wants: static network, no caching of answers,
 * a time-out on every call.
 *
 * @module
 */
import type { EvmChainSettings } from '@pool/core';
import { PoolError } from '@pool/core';
import { FetchRequest, JsonRpcProvider, Network } from 'ethers';

const callTimeoutMs = 20_000;

/** @param timeoutMs - for one call, whatever becomes of it */
export function createEvmProvider(
  settings: EvmChainSettings,
  timeoutMs: number = callTimeoutMs,
): JsonRpcProvider {
  const request = new FetchRequest(settings.rpcUrl);
  request.timeout = timeoutMs;
  const network = Network.from(settings.chainId);
  return new JsonRpcProvider(request, network, {
    staticNetwork: network,
    batchMaxCount: 1,
    // ethers would answer repeated reads from a cache, and "is it final yet" must not be cached.
    cacheTimeout: -1,
  });
}

/**
 * Makes sure that the RPC serves the configured chain.
 * @throws PoolError `wrong_chain`, `chain_unreachable` (retryable)
 */
export async function assertChainId(
  provider: JsonRpcProvider,
  settings: EvmChainSettings,
): Promise<void> {
  let answered: unknown;
  try {
    answered = await provider.send('eth_chainId', []);
  } catch (cause) {
    throw new PoolError(
      'chain_unreachable',
      `the RPC of chain ${settings.chainId} is unreachable`,
      {
        retryable: true,
        status: 503,
        cause,
      },
    );
  }
  if (typeof answered !== 'string' || Number(answered) !== settings.chainId) {
    throw new PoolError(
      'wrong_chain',
      `the RPC configured for ${settings.chainId} serves another chain`,
    );
  }
}
