/**
 * What spends read of an EVM chain, through the agent's own RPC: nullifiers, spends that landed, the registry's root, and what is final.
 *
 * @module
 */
import { connectEligibilityRegistry, decodeSpend, shieldedPoolInterface } from '@pool/contracts';
import { type EvmChainSettings, type Hex32, PoolError, parseHex32 } from '@pool/core';
import { isFinal } from '@pool/evm-sender';
import type { SpendChainPort, SpentTransaction } from '../spend/spend-ports.ts';
import { connectPool } from './pool-connection.ts';

/** Time limit of one RPC call. */
const rpcTimeoutMs = 10_000;

/** Blocks of one `eth_getLogs`, which most public RPCs allow. */
const logWindowBlocks = 1_000;

export type EvmSpendChain = SpendChainPort & {
  /** Seconds for which the registry accepts a replaced root. */
  fetchGraceSeconds(): Promise<number>;
  /** Frees the connection. */
  close(): void;
};

/** Opens nothing yet; the first call checks that the RPC serves the configured chain. */
export function createEvmSpendChain(settings: EvmChainSettings): EvmSpendChain {
  const { provider, pool: reader, call, close } = connectPool(settings, rpcTimeoutMs);
  const registry = connectEligibilityRegistry(settings.registry, provider);

  async function findSpent(
    outRoot: Hex32,
    fromBlock: number,
    upTo: number,
  ): Promise<SpentTransaction> {
    const lowest = Math.max(settings.deployedAtBlock, fromBlock);
    const topics = shieldedPoolInterface.encodeFilterTopics('Spent', [null, outRoot]);
    // Newest first and in windows: many RPCs limit the range, and a requested spend is usually recent.
    for (let to = upTo; to >= lowest; to -= logWindowBlocks) {
      const from = Math.max(lowest, to - logWindowBlocks + 1);
      const [log] = await provider.getLogs({
        address: settings.pool,
        topics,
        fromBlock: from,
        toBlock: to,
      });
      if (log !== undefined) {
        return { txHash: parseHex32(log.transactionHash), blockNumber: log.blockNumber };
      }
    }
    throw new PoolError('chain_unreachable', "the RPC does not serve the pool's events");
  }

  return {
    fetchNullifierState: (nullifiers) =>
      call(async () => {
        const finalBlock = await reader.fetchFinalBlock();
        const isDeployed = finalBlock.number >= settings.deployedAtBlock;
        // The head is read after the final block, so a use cannot be final and unseen at the head.
        const states = await Promise.all(
          nullifiers.map(async (nullifier) => ({
            final: isDeployed
              ? await reader.fetchOutRootOf(nullifier, finalBlock.number)
              : undefined,
            head: await reader.fetchOutRootOf(nullifier, 'latest'),
          })),
        );
        return {
          finalBlock,
          outRoots: states.map(({ final }) => final),
          pending: states.some(({ final, head }) => final === undefined && head !== undefined),
        };
      }),
    fetchFinalBlockNumber: () => call(async () => (await reader.fetchFinalBlock()).number),
    fetchSpentTransaction: (outRoot, fromBlock = 0) =>
      call(async () => findSpent(outRoot, fromBlock, (await reader.fetchFinalBlock()).number)),
    fetchHeadTimestamp: () => call(() => reader.fetchHeadTimestamp()),
    fetchFinalEligibilityRoot: () =>
      call(async () => {
        const { number: blockTag } = await reader.fetchFinalBlock();
        return parseHex32(await registry.current({ blockTag }));
      }),
    fetchGraceSeconds: () => call(async () => Number(await registry.gracePeriodSeconds())),
    isEligibilityRootAccepted: (root) => call(() => registry.accepted(root)),
    fetchReceipt: (txHash) =>
      call(async () => {
        const receipt = await reader.fetchReceipt(txHash);
        return receipt === undefined
          ? undefined
          : {
              reverted: !receipt.succeeded,
              final: isFinal(receipt, await reader.fetchFinalBlock()),
              blockNumber: receipt.blockNumber,
              gasUsed: receipt.gasUsed,
            };
      }),
    fetchCarriedOutRoot: (txHash) =>
      call(async () => {
        const transaction = await provider.getTransaction(txHash);
        if (transaction?.to?.toLowerCase() !== settings.pool.toLowerCase()) {
          return undefined;
        }
        try {
          return parseHex32(decodeSpend(transaction.data).operation.outRoot);
        } catch {
          return undefined;
        }
      }),
    fetchRevertReason: (txHash) => call(() => reader.fetchRevertReason(txHash)),
    close,
  };
}
