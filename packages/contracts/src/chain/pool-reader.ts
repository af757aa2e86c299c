/**
 * Reads the pool on an EVM chain. Every read names its block. This module makes no decisions.
 *
 * @module
 */
import { type EvmChainSettings, type Hex32, PoolError, parseHex32, zeroWord } from '@pool/core';
import { fetchFinalBlock, fetchHeadTimestamp, fetchReceipt } from '@pool/evm-sender';
import type { JsonRpcProvider, TopicFilter } from 'ethers';
import { connectShieldedPool, shieldedPoolInterface } from '../calls/shielded-pool.ts';
import {
  encodeLeafTopics,
  type FundedBatch,
  type LandedSpend,
  type PoolLeaf,
  parsePoolLeaf,
} from './pool-leaves.ts';
import { fetchRevertReason } from './revert-reason.ts';

type BlockTag = number | 'latest';

export type PoolReader = ReturnType<typeof createPoolReader>;

export function createPoolReader(
  provider: JsonRpcProvider,
  settings: Pick<EvmChainSettings, 'pool' | 'finality'>,
) {
  const pool = connectShieldedPool(settings.pool, provider);

  async function fetchLeaves(
    topics: TopicFilter,
    fromBlock: number,
    toBlock: number,
  ): Promise<PoolLeaf[]> {
    const logs = await provider.getLogs({ address: settings.pool, topics, fromBlock, toBlock });
    return logs.map(parsePoolLeaf);
  }

  return {
    fetchFinalBlock: () => fetchFinalBlock(provider, settings.finality),
    /** Time of the newest block, Unix seconds. */
    fetchHeadTimestamp: () => fetchHeadTimestamp(provider),
    /** Undefined: the RPC does not have the block. */
    async fetchBlockHash(blockNumber: number): Promise<Hex32 | undefined> {
      const hash = (await provider.getBlock(blockNumber))?.hash ?? undefined;
      return hash === undefined ? undefined : parseHex32(hash);
    },
    /** Root for which a funder used a batch nonce as of a block; undefined while unused. */
    async fetchBatchRootOf(
      funder: string,
      batchNonce: string,
      blockTag: BlockTag,
    ): Promise<Hex32 | undefined> {
      const root = parseHex32(await pool.batchNonceUsed(funder, batchNonce, { blockTag }));
      return root === zeroWord ? undefined : root;
    },
    fetchIsVoided: (funder: string, batchNonce: string, blockTag: BlockTag): Promise<boolean> =>
      pool.isVoided(funder, batchNonce, { blockTag }),
    /** outRoot of the spend that used a nullifier as of a block; undefined while unused. */
    async fetchOutRootOf(nullifier: string, blockTag: BlockTag): Promise<Hex32 | undefined> {
      const outRoot = parseHex32(await pool.nullifierUsed(nullifier, { blockTag }));
      return outRoot === zeroWord ? undefined : outRoot;
    },
    /** Root of the note tree as of a block, zero word before the first batch. */
    fetchNoteRoot: async (blockTag: number): Promise<Hex32> =>
      parseHex32(await pool.currentRoot({ blockTag })),
    /** Batches of a range of blocks, both ends included. @param batchId - of the only requested batch */
    async fetchFundedBatches(
      fromBlock: number,
      toBlock: number,
      batchId?: string,
    ): Promise<FundedBatch[]> {
      const topics = encodeTopics('BatchFunded', 'batchId', batchId);
      const leaves = await fetchLeaves(topics, fromBlock, toBlock);
      return leaves.map((leaf) => (leaf.kind === 'fund' ? leaf : refuseLog()));
    },
    /** Spends of a range of blocks, both ends included. @param outRoot - of the only requested spend */
    async fetchSpends(
      fromBlock: number,
      toBlock: number,
      outRoot?: string,
    ): Promise<LandedSpend[]> {
      const topics = encodeTopics('Spent', 'outRoot', outRoot);
      const leaves = await fetchLeaves(topics, fromBlock, toBlock);
      return leaves.map((leaf) => (leaf.kind === 'spend' ? leaf : refuseLog()));
    },
    /** Everything inserted into the note tree in a range of blocks, both ends included, in the order of the chain. */
    fetchPoolLeaves: (fromBlock: number, toBlock: number) =>
      fetchLeaves(encodeLeafTopics(), fromBlock, toBlock),
    /** Undefined: the transaction is not mined. */
    fetchReceipt: (txHash: string) => fetchReceipt(provider, txHash),
    /** Why a mined transaction reverted. */
    fetchRevertReason: (txHash: string) => fetchRevertReason(provider, txHash),
  };
}

/** Filter of one event, of any or one value of an indexed parameter. ethers takes a value for each parameter. */
function encodeTopics(event: string, parameter: string, value: string | undefined) {
  const { inputs } = shieldedPoolInterface.getEvent(event) ?? { inputs: [] };
  const values = inputs.map(({ name }) => (name === parameter && value ? value : null));
  return shieldedPoolInterface.encodeFilterTopics(event, values);
}

function refuseLog(): never {
  throw new PoolError('chain_unreachable', 'the RPC answered with a log of another event');
}
