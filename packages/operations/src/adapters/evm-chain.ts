/**
 * An EVM chain through the agent's own RPC: what the pool, the registry and the token say, and which block
 * counts as final.
 *
 * @module
 */
import {
  connectEligibilityRegistry,
  connectErc20,
  connectShieldedPool,
  decodeRevert,
  erc20Interface,
  parseBatchFunded,
  shieldedPoolInterface,
} from '@pool/contracts';
import {
  computeBatchId,
  type EvmAddress,
  type EvmChainSettings,
  fieldToHex,
  isPoolError,
  PoolError,
  parseEvmAddress,
  parseField,
  parseHex32,
} from '@pool/core';
import { FetchRequest, isError, JsonRpcProvider, type Log, type TransactionReceipt } from 'ethers';
import type { ChainPort, FinalBlock, FundedBatch, Receipt } from '../ports.ts';

/** Time-out of one RPC exchange. */
const rpcTimeoutMs = 10_000;

/** Most gas an approval may use; real ones need a sixth of it. */
const maxApprovalGas = 300_000n;

/** Blocks asked for in one `eth_getLogs`, which most public RPCs allow. */
const logWindowBlocks = 1_000;

const zeroWord = `0x${'00'.repeat(32)}`;

export type EvmChain = ChainPort & {
  /** Frees the connection. */
  close(): void;
};

/** Opens nothing yet; the first call checks that the RPC serves the configured chain. */
export function createEvmChain(settings: EvmChainSettings): EvmChain {
  const request = new FetchRequest(settings.rpcUrl);
  request.timeout = rpcTimeoutMs;
  const provider = new JsonRpcProvider(request, settings.chainId, {
    staticNetwork: true,
    batchMaxCount: 1,
    cacheTimeout: -1,
  });
  const poolAddress = settings.pool;
  const pool = connectShieldedPool(poolAddress, provider);
  const registry = connectEligibilityRegistry(settings.registry, provider);
  let chainIdCheck: Promise<void> | undefined;

  async function checkChainId(): Promise<void> {
    const served = BigInt((await provider.send('eth_chainId', [])) as string);
    if (served !== BigInt(settings.chainId)) {
      throw new PoolError('wrong_chain', 'the configured RPC serves another chain id', {
        status: 503,
      });
    }
  }

  /** Runs one read or write against the right chain; failures of the RPC are retryable. */
  async function call<T>(work: () => Promise<T>): Promise<T> {
    try {
      chainIdCheck ??= checkChainId();
      await chainIdCheck.catch((error: unknown) => {
        chainIdCheck = undefined;
        throw error;
      });
      return await work();
    } catch (cause) {
      if (isPoolError(cause)) {
        throw cause;
      }
      throw new PoolError('chain_unreachable', "the chain's RPC did not answer as expected", {
        status: 503,
        retryable: true,
        cause,
      });
    }
  }

  async function fetchFinalBlock(): Promise<FinalBlock> {
    const { finality } = settings;
    const tag =
      finality.kind === 'finalized-tag'
        ? 'finalized'
        : Math.max(0, (await provider.getBlockNumber()) - finality.blocks);
    const block = await provider.getBlock(tag);
    if (block === null) {
      throw new PoolError('chain_unreachable', 'the RPC knows no final block', {
        status: 503,
        retryable: true,
      });
    }
    return { number: block.number, timestampSeconds: block.timestamp };
  }

  async function fetchFunded(batchId: string, upTo: number): Promise<FundedBatch> {
    // Newest first and in windows: many RPCs limit the range, and a batch that is asked for is recent.
    for (let to = upTo; to >= settings.deployedAtBlock; to -= logWindowBlocks) {
      const logs = await provider.getLogs({
        address: poolAddress,
        topics: shieldedPoolInterface.encodeFilterTopics('BatchFunded', batchFundedFilter(batchId)),
        fromBlock: Math.max(settings.deployedAtBlock, to - logWindowBlocks + 1),
        toBlock: to,
      });
      for (const log of logs) {
        const event = parseBatchFunded(log);
        if (event?.batchId === batchId) {
          return {
            batchId: parseHex32(event.batchId),
            batchRoot: parseHex32(event.batchRoot),
            sealedNotesHash: parseHex32(event.sealedNotesHash),
            commitments: event.commitments.map((commitment) => parseHex32(commitment)),
            txHash: parseHex32(log.transactionHash),
            blockNumber: log.blockNumber,
          };
        }
      }
    }
    throw new PoolError('chain_unreachable', "the RPC does not serve the pool's events", {
      status: 503,
      retryable: true,
    });
  }

  const token = (address: EvmAddress) => connectErc20(address, provider);

  return {
    fetchNonceState: (funder, batchNonce) =>
      call(async () => {
        const finalBlock = await fetchFinalBlock();
        const batchId = fieldToHex(computeBatchId(funder, parseField(batchNonce)));
        const isUsedAtHead = (await pool.batchNonceUsed(funder, batchNonce)) !== zeroWord;
        if (finalBlock.number < settings.deployedAtBlock) {
          return { finalBlock, funded: undefined, voided: false, pending: isUsedAtHead };
        }
        const at = { blockTag: finalBlock.number };
        const isUsed = (await pool.batchNonceUsed(funder, batchNonce, at)) !== zeroWord;
        return {
          finalBlock,
          funded: isUsed ? await fetchFunded(batchId, finalBlock.number) : undefined,
          voided: await pool.isVoided(funder, batchNonce, at),
          pending: isUsedAtHead && !isUsed,
        };
      }),
    fetchHeadTimestamp: () =>
      call(async () => {
        const block = await provider.getBlock('latest');
        return block?.timestamp ?? 0;
      }),
    isEligibilityRootAccepted: (root) => call(() => registry.accepted(root)),
    fetchAllowance: (address, funder) => call(() => token(address).allowance(funder, poolAddress)),
    fetchTokenBalance: (address, account) => call(() => token(address).balanceOf(account)),
    fetchCoinBalance: (account) => call(() => provider.getBalance(account)),
    fetchPermitNonce: (address, funder) => call(() => token(address).nonces(funder)),
    fetchReceipt: (txHash) =>
      call(async () => {
        const receipt = await provider.getTransactionReceipt(txHash);
        return receipt === null ? undefined : toReceipt(receipt, await fetchFinalBlock());
      }),
    fetchCarriedBatch: (txHash) =>
      call(async () => {
        const transaction = await provider.getTransaction(txHash);
        if (transaction?.to?.toLowerCase() !== poolAddress.toLowerCase()) {
          return undefined;
        }
        const parsed = shieldedPoolInterface.parseTransaction({ data: transaction.data });
        if (parsed?.name !== 'fund') {
          return undefined;
        }
        const batch = parsed.args[0] as Readonly<Record<'batchNonce' | 'batchRoot', unknown>>;
        return {
          batchNonce: parseHex32(batch.batchNonce),
          batchRoot: parseHex32(batch.batchRoot),
        };
      }),
    fetchRevertReason: (txHash) =>
      call(async () => {
        const transaction = await provider.getTransaction(txHash);
        if (transaction === null) {
          return decodeRevert(undefined);
        }
        try {
          const { from, to, data, value, blockNumber } = transaction;
          await provider.call({ from, to, data, value, blockTag: blockNumber ?? 'latest' });
          return decodeRevert(undefined);
        } catch (error) {
          if (!isError(error, 'CALL_EXCEPTION')) {
            throw error;
          }
          return decodeRevert(error);
        }
      }),
    fetchTransferred: (txHash, address, funder) =>
      call(async () => {
        const receipt = await provider.getTransactionReceipt(txHash);
        if (receipt === null) {
          throw new PoolError('chain_unreachable', 'the RPC does not serve a final transaction', {
            status: 503,
            retryable: true,
          });
        }
        const moved = receipt.logs
          .map((log) => readTransfer(log))
          .filter((transfer) => transfer !== undefined)
          .filter(({ from, to }) => from === funder && to === poolAddress);
        return {
          amount: moved
            .filter(({ token: of }) => of === address)
            .reduce((sum, { value }) => sum + value, 0n),
          anyToken: moved.some(({ value }) => value > 0n),
        };
      }),
    prepareApproval: (address, funder, value) =>
      call(async () => {
        const estimate = await token(address).approve.estimateGas(poolAddress, value, {
          from: funder,
        });
        const padded = (estimate * 3n) / 2n;
        const fees = await provider.getFeeData();
        const maxPriorityFeePerGas = fees.maxPriorityFeePerGas ?? 1_000_000_000n;
        return {
          chainId: settings.chainId,
          nonce: await provider.getTransactionCount(funder, 'pending'),
          token: address,
          spender: poolAddress,
          value,
          gasLimit: padded < maxApprovalGas ? padded : maxApprovalGas,
          maxFeePerGas: fees.maxFeePerGas ?? 2n * maxPriorityFeePerGas,
          maxPriorityFeePerGas,
        };
      }),
    fetchMinedNonce: (account) => call(() => provider.getTransactionCount(account, 'latest')),
    broadcast: (rawTransaction) =>
      call(async () => {
        try {
          await provider.broadcastTransaction(rawTransaction);
        } catch (error) {
          throwUnlessSent(error);
        }
      }),
    close: () => provider.destroy(),
  };
}

function batchFundedFilter(batchId: string): (string | null)[] {
  const { inputs } = shieldedPoolInterface.getEvent('BatchFunded') ?? { inputs: [] };
  // ethers takes one value per parameter of the event, indexed or not.
  return inputs.map((input) => (input.name === 'batchId' ? batchId : null));
}

type Transfer = {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
};

/** Undefined for anything else, such as the event of the same name that ERC-721 has, with a third indexed value. */
function readTransfer(log: Log): Transfer | undefined {
  if (log.topics.length !== 3) {
    return undefined;
  }
  const event = erc20Interface.parseLog(log);
  if (event?.name !== 'Transfer') {
    return undefined;
  }
  const [from, to, value] = event.args as unknown as [string, string, bigint];
  return { token: log.address, from, to, value };
}

function toReceipt(receipt: TransactionReceipt, finalBlock: FinalBlock): Receipt {
  return {
    reverted: receipt.status === 0,
    final: receipt.blockNumber <= finalBlock.number,
    blockNumber: receipt.blockNumber,
    gasUsed: receipt.gasUsed,
    to: receipt.to === null ? undefined : parseEvmAddress(receipt.to),
  };
}

/** A node that has the transaction, or has mined it, is as good as one that takes it now. */
function throwUnlessSent(error: unknown): void {
  if (isError(error, 'NONCE_EXPIRED')) {
    return;
  }
  const text = error instanceof Error ? error.message : '';
  if (/already known|already imported|known transaction/i.test(text)) {
    return;
  }
  if (isError(error, 'INSUFFICIENT_FUNDS')) {
    throw new PoolError(
      'approval_unfunded',
      "the funder account has no coin to pay the approval's gas",
      { cause: error },
    );
  }
  throw error;
}
