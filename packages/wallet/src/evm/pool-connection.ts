import { createPoolReader } from '@pool/contracts';
import type { EvmChainSettings } from '@pool/core';
import { createChainCall, createEvmProvider } from '@pool/evm-sender';

/** A pool, and the RPC that is asked about it. */
export type PoolNode = Pick<EvmChainSettings, 'chainId' | 'rpcUrl' | 'pool' | 'finality'>;

/**
 * The pool of a chain, through the reader's own RPC. Opens nothing yet; the first call checks that the RPC serves the configured chain.
 * @param timeoutMs - limit of one RPC call
 */
export function connectPool(settings: PoolNode, timeoutMs: number) {
  const provider = createEvmProvider(settings, timeoutMs);
  return {
    provider,
    pool: createPoolReader(provider, settings),
    call: createChainCall(provider, settings),
    /** Frees the connection. */
    close: () => provider.destroy(),
  };
}
