/**
 * What a transaction of the holder's own needs of an EVM chain, through the agent's own RPC.
 *
 * @module
 */
import { createPoolReader } from '@pool/contracts';
import type { ErrorBody, EvmAddress, EvmChainSettings } from '@pool/core';
import {
  type AskedFees,
  createChainCall,
  createEvmProvider,
  type FinalBlock,
  fetchFees,
  type Receipt,
} from '@pool/evm-sender';
import type { JsonRpcProvider } from 'ethers';

/** Time limit of one RPC call. */
const rpcTimeoutMs = 15_000;

/** Every call throws PoolError `chain_unreachable` (retryable) or `wrong_chain`. */
export type GasChain = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  /** Runs one read or one broadcast against the right chain. */
  call<T>(work: (provider: JsonRpcProvider) => Promise<T>): Promise<T>;
  fetchFees(): Promise<AskedFees>;
  fetchFinalBlock(): Promise<FinalBlock>;
  fetchReceipt(txHash: string): Promise<Receipt | undefined>;
  fetchRevertReason(txHash: string): Promise<ErrorBody>;
  /** Frees the connection. */
  close(): void;
};

/** Opens nothing yet; the first call checks that the RPC serves the configured chain. */
export function createEvmGasChain(settings: EvmChainSettings): GasChain {
  const provider = createEvmProvider(settings, rpcTimeoutMs);
  const reader = createPoolReader(provider, settings);
  const call = createChainCall(provider, settings);

  return {
    chainId: settings.chainId,
    pool: settings.pool,
    call: (work) => call(() => work(provider)),
    fetchFees: () => call(() => fetchFees(provider)),
    fetchFinalBlock: () => call(() => reader.fetchFinalBlock()),
    fetchReceipt: (txHash) => call(() => reader.fetchReceipt(txHash)),
    fetchRevertReason: (txHash) => call(() => reader.fetchRevertReason(txHash)),
    close: () => provider.destroy(),
  };
}
