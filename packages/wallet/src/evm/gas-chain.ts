/**
 * What a transaction of the holder's own needs of an EVM chain, through the agent's own RPC.
 *
 * @module
 */
import type { EvmChainSettings } from '@pool/core';
import { fetchFees } from '@pool/evm-sender';
import type { JsonRpcProvider } from 'ethers';
import { connectPool } from './pool-connection.ts';

/** Time limit of one RPC call. */
const rpcTimeoutMs = 15_000;

export type GasChain = ReturnType<typeof createEvmGasChain>;

/**
 * Opens nothing yet; the first call checks that the RPC serves the configured chain.
 * Every call throws PoolError `chain_unreachable` (retryable) or `wrong_chain`.
 */
export function createEvmGasChain(settings: EvmChainSettings) {
  const { provider, pool, call, close } = connectPool(settings, rpcTimeoutMs);

  return {
    chainId: settings.chainId,
    pool: settings.pool,
    /** Runs one read or one broadcast against the right chain. */
    call: <T>(work: (provider: JsonRpcProvider) => Promise<T>): Promise<T> =>
      call(() => work(provider)),
    fetchFees: () => call(() => fetchFees(provider)),
    fetchFinalBlock: () => call(() => pool.fetchFinalBlock()),
    fetchReceipt: (txHash: string) => call(() => pool.fetchReceipt(txHash)),
    fetchRevertReason: (txHash: string) => call(() => pool.fetchRevertReason(txHash)),
    close,
  };
}
