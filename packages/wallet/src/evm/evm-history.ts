/**
 * The history of a pool on an EVM chain, through the agent's own RPC.
 *
 * @module
 */
import type { PoolLeaf } from '@pool/contracts';
import { type EvmChainSettings, parseField } from '@pool/core';
import type { HistoryLeaf, HistoryPort } from '../sync/ports.ts';
import { connectPool } from './pool-connection.ts';

/** Time limit of one RPC call. The events of a window can be many. */
const rpcTimeoutMs = 30_000;

export type EvmHistory = HistoryPort & {
  /** Frees the connection. */
  close(): void;
};

/** Opens nothing yet; the first call checks that the RPC serves the configured chain. */
export function createEvmHistory(settings: EvmChainSettings): EvmHistory {
  const { pool, call, close } = connectPool(settings, rpcTimeoutMs);

  return {
    node: new URL(settings.rpcUrl).host,
    fetchFinalBlock: () =>
      call(async () => {
        const { number, hash } = await pool.fetchFinalBlock();
        return { number, hash };
      }),
    fetchBlockHash: (blockNumber) => call(() => pool.fetchBlockHash(blockNumber)),
    fetchLeaves: (fromBlock, toBlock) =>
      call(async () => (await pool.fetchPoolLeaves(fromBlock, toBlock)).map(readLeaf)),
    fetchNoteRoot: (blockNumber) =>
      call(async () => parseField(await pool.fetchNoteRoot(blockNumber))),
    close,
  };
}

/** The inputs of a spend are in its event; a batch has none. */
function readLeaf(leaf: PoolLeaf): HistoryLeaf {
  const { leafIndex, batchRoot, newRoot, commitments, txHash, blockNumber } = leaf;
  return {
    leafIndex,
    root: parseField(batchRoot),
    newRoot: parseField(newRoot),
    commitments,
    nullifiers: leaf.kind === 'spend' ? leaf.nullifiers : [],
    sealedNotes: leaf.kind === 'spend' ? leaf.sealedNotes : [],
    txHash,
    blockNumber,
  };
}
