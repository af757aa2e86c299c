/**
 * Reads the pool on an EVM chain. Every read names its block. This module makes no decisions.
 *
 * @module
 */
import {
  type ErrorBody,
  type EvmChainSettings,
  type Hex32,
  PoolError,
  parseHex32,
  zeroWord,
} from '@pool/core';
import {
  type FinalBlock,
  fetchFinalBlock,
  fetchHeadTimestamp,
  fetchReceipt,
  type Receipt,
} from '@pool/evm-sender';
import type { JsonRpcProvider, Log } from 'ethers';
import { connectShieldedPool, shieldedPoolInterface } from '../calls/shielded-pool.ts';
import {
  encodeLeafTopics,
  type FundedBatch,
  type LandedSpend,
  type PoolLeaf,
  parsePoolLeaf,
} from './pool-leaves.ts';
import { fetchRevertReason } from './revert-reason.ts';

export type PoolReader = {
  fetchFinalBlock(): Promise<FinalBlock>;
  /** Time of the newest block, Unix seconds. */
  fetchHeadTimestamp(): Promise<number>;
  /** Undefined: the RPC does not have the block. */
  fetchBlockHash(blockNumber: number): Promise<Hex32 | undefined>;
  /** Root for which a funder used a batch nonce as of a block; undefined while unused. */
  fetchBatchRootOf(
    funder: string,
    batchNonce: string,
    block: number | 'latest',
  ): Promise<Hex32 | undefined>;
  fetchIsVoided(funder: string, batchNonce: string, block: number | 'latest'): Promise<boolean>;
  /** outRoot of the spend that used a nullifier as of a block; undefined while unused. */
  fetchOutRootOf(nullifier: string, block: number | 'latest'): Promise<Hex32 | undefined>;
  /** Root of the note tree as of a block, zero word before the first batch. */
  fetchNoteRoot(block: number): Promise<Hex32>;
  /** Batches of a range of blocks, both ends included. @param batchId - of the only requested batch */
  fetchFundedBatches(fromBlock: number, toBlock: number, batchId?: string): Promise<FundedBatch[]>;
  /** Spends of a range of blocks, both ends included. @param outRoot - of the only requested spend */
  fetchSpends(fromBlock: number, toBlock: number, outRoot?: string): Promise<LandedSpend[]>;
  /** Everything inserted into the note tree in a range of blocks, both ends included, in the order of the chain. */
  fetchPoolLeaves(fromBlock: number, toBlock: number): Promise<PoolLeaf[]>;
  /** Undefined: the transaction is not mined. */
  fetchReceipt(txHash: string): Promise<Receipt | undefined>;
  /** Why a mined transaction reverted. */
  fetchRevertReason(txHash: string): Promise<ErrorBody>;
};

export function createPoolReader(
  provider: JsonRpcProvider,
  settings: Pick<EvmChainSettings, 'pool' | 'finality'>,
): PoolReader {
  const pool = connectShieldedPool(settings.pool, provider);
  return {
    fetchFinalBlock: () => fetchFinalBlock(provider, settings.finality),
    fetchHeadTimestamp: () => fetchHeadTimestamp(provider),
    async fetchBlockHash(blockNumber) {
      const hash = (await provider.getBlock(blockNumber))?.hash ?? undefined;
      return hash === undefined ? undefined : parseHex32(hash);
    },
    async fetchBatchRootOf(funder, batchNonce, blockTag) {
      const root = parseHex32(await pool.batchNonceUsed(funder, batchNonce, { blockTag }));
      return root === zeroWord ? undefined : root;
    },
    fetchIsVoided: (funder, batchNonce, blockTag) =>
      pool.isVoided(funder, batchNonce, { blockTag }),
    async fetchOutRootOf(nullifier, blockTag) {
      const outRoot = parseHex32(await pool.nullifierUsed(nullifier, { blockTag }));
      return outRoot === zeroWord ? undefined : outRoot;
    },
    fetchNoteRoot: async (blockTag) => parseHex32(await pool.currentRoot({ blockTag })),
    async fetchFundedBatches(fromBlock, toBlock, batchId) {
      const topics = encodeTopics('BatchFunded', 'batchId', batchId);
      const logs = await provider.getLogs({ address: settings.pool, topics, fromBlock, toBlock });
      return logs.map(parseFundedBatch);
    },
    async fetchSpends(fromBlock, toBlock, outRoot) {
      const topics = encodeTopics('Spent', 'outRoot', outRoot);
      const logs = await provider.getLogs({ address: settings.pool, topics, fromBlock, toBlock });
      return logs.map(parseLandedSpend);
    },
    async fetchPoolLeaves(fromBlock, toBlock) {
      const topics = encodeLeafTopics();
      const logs = await provider.getLogs({ address: settings.pool, topics, fromBlock, toBlock });
      return logs.map(parsePoolLeaf);
    },
    fetchReceipt: (txHash) => fetchReceipt(provider, txHash),
    fetchRevertReason: (txHash) => fetchRevertReason(provider, txHash),
  };
}

/** Filter of one event, of any or one value of an indexed parameter. ethers takes a value for each parameter. */
function encodeTopics(event: string, parameter: string, value: string | undefined) {
  const { inputs } = shieldedPoolInterface.getEvent(event) ?? { inputs: [] };
  const values = inputs.map(({ name }) => (name === parameter && value ? value : null));
  return shieldedPoolInterface.encodeFilterTopics(event, values);
}

function parseFundedBatch(log: Log): FundedBatch {
  const leaf = parsePoolLeaf(log);
  if (leaf.kind !== 'fund') throw wrongLog();
  return leaf;
}

function parseLandedSpend(log: Log): LandedSpend {
  const leaf = parsePoolLeaf(log);
  if (leaf.kind !== 'spend') throw wrongLog();
  return leaf;
}

function wrongLog(): PoolError {
  return new PoolError('chain_unreachable', 'the RPC answered with a log of another event');
}
