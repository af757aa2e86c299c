/**
 * What a transaction of the holder's own needs of an EVM chain, through the agent's own RPC.
 *
 * @module
 */
import {
  createChainCall,
  createEvmProvider,
  createPoolReader,
  decodeSpend,
  type FinalBlock,
  type LandedSpend,
  type Receipt,
} from '@pool/contracts';
import type { ErrorBody, EvmAddress, EvmChainSettings, Hex32 } from '@pool/core';
import type { JsonRpcProvider } from 'ethers';
import type { AskedFees } from './transaction-fees.ts';

/** Time limit of one RPC call. */
const rpcTimeoutMs = 15_000;

/** Wei per unit of gas, where the node names no tip. */
const defaultTip = 1_000_000_000n;

/** Bytes of one sealed note. */
const sealedHexLength = 418;

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
  /** Spends of a range of blocks, both ends included. */
  fetchSpends(fromBlock: number, toBlock: number): Promise<readonly LandedSpend[]>;
  /**
   * The sealed notes of all outputs of a spend in slot order, from its transaction: the chain keeps them nowhere else.
   * @returns undefined: the node does not have the transaction, or another contract made the call
   */
  fetchSealedNotes(txHash: Hex32): Promise<readonly string[] | undefined>;
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
    fetchFees: () =>
      call(async () => {
        const [fees, head] = await Promise.all([
          provider.getFeeData(),
          provider.getBlock('latest'),
        ]);
        const maxPriorityFeePerGas = fees.maxPriorityFeePerGas ?? defaultTip;
        const maxFeePerGas = fees.maxFeePerGas ?? fees.gasPrice ?? maxPriorityFeePerGas;
        const baseFee = head?.baseFeePerGas ?? undefined;
        // The node asks for twice the base fee, in case it rises; once is enough now.
        const needed = baseFee === undefined ? maxFeePerGas : baseFee + maxPriorityFeePerGas;
        return { maxPriorityFeePerGas, maxFeePerGas, needed };
      }),
    fetchFinalBlock: () => call(() => reader.fetchFinalBlock()),
    fetchReceipt: (txHash) => call(() => reader.fetchReceipt(txHash)),
    fetchRevertReason: (txHash) => call(() => reader.fetchRevertReason(txHash)),
    fetchSpends: (fromBlock, toBlock) => call(() => reader.fetchSpends(fromBlock, toBlock)),
    fetchSealedNotes: (txHash) =>
      call(async () => {
        const transaction = await provider.getTransaction(txHash);
        if (transaction?.to?.toLowerCase() !== settings.pool.toLowerCase()) {
          return undefined;
        }
        try {
          return splitSealedNotes(decodeSpend(transaction.data).sealedNotes);
        } catch {
          return undefined;
        }
      }),
    close: () => provider.destroy(),
  };
}

function splitSealedNotes(sealedNotes: string): readonly string[] {
  const text = sealedNotes.slice(2);
  return Array.from(
    { length: Math.floor(text.length / sealedHexLength) },
    (_, slot) => `0x${text.slice(slot * sealedHexLength, (slot + 1) * sealedHexLength)}`,
  );
}
