/**
 * What histories and disclosures read of an EVM chain besides the notes, through the agent's own RPC: times of blocks, withdrawals, and
 * the pool's events of single transactions. Everything is asked about final blocks, so an answer never changes.
 *
 * @module
 */
import { connectErc20, decodeSpend, erc20Interface, type PoolLeaf } from '@pool/contracts';
import {
  type EvmAddress,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseHex32,
  type TokenUnit,
} from '@pool/core';
import { connectPool, type PoolNode } from './pool-connection.ts';

/** What the calldata of a spend says. Public. */
export type SpendCalldata = {
  readonly outRoot: Hex32;
  /** Base units that left the pool; 0 for a transfer. */
  readonly withdrawAmount: bigint;
  /** Undefined for a transfer. */
  readonly recipient: EvmAddress | undefined;
};

export type EvmRecords = {
  /** Number of the newest final block. */
  fetchFinalBlock(): Promise<number>;
  /** Unix seconds. @throws PoolError `chain_unreachable` if the RPC does not have the block */
  fetchBlockTime(blockNumber: number): Promise<number>;
  /** Undefined: the transaction calls another contract, which calls the pool. */
  fetchSpendCalldata(txHash: Hex32): Promise<SpendCalldata | undefined>;
  /** Wei of the chain's own coin that the gas of a mined transaction cost, with what a rollup charges for its data. Undefined: it is not mined. */
  fetchGasCost(txHash: Hex32): Promise<bigint | undefined>;
  /** Who paid tokens into the pool in a transaction: the funder of a batch. Undefined: nobody, or several. */
  fetchFunder(txHash: Hex32, token: EvmAddress): Promise<EvmAddress | undefined>;
  /** The pool's events in a transaction, in the order of the chain. Empty: it is not mined, or has none. */
  fetchTransactionLeaves(txHash: Hex32): Promise<readonly PoolLeaf[]>;
  /** The pool's events of a range of blocks, both ends included. */
  fetchLeaves(fromBlock: number, toBlock: number): Promise<readonly PoolLeaf[]>;
  /** Symbol and decimals, as the token's contract names them: the symbol may be any text. */
  fetchTokenUnit(token: EvmAddress): Promise<TokenUnit>;
  /** Frees the connection. */
  close(): void;
};

/** Time limit of one RPC call. */
const rpcTimeoutMs = 30_000;

/** Opens nothing yet; the first call checks that the RPC serves the configured chain. */
export function createEvmRecords(settings: PoolNode): EvmRecords {
  const { provider, pool, call, close } = connectPool(settings, rpcTimeoutMs);

  return {
    fetchFinalBlock: () => call(async () => (await pool.fetchFinalBlock()).number),
    fetchBlockTime: (blockNumber) =>
      call(async () => {
        const block = await provider.getBlock(blockNumber);
        if (block === null) {
          throw new PoolError(
            'chain_unreachable',
            'the RPC does not serve an earlier block; try again',
          );
        }
        return block.timestamp;
      }),
    fetchSpendCalldata: (txHash) =>
      call(async () => {
        const transaction = await provider.getTransaction(txHash);
        return transaction?.to?.toLowerCase() === settings.pool.toLowerCase()
          ? readSpend(transaction.data)
          : undefined;
      }),
    fetchGasCost: (txHash) =>
      call(async () =>
        computeGasCost(await provider.send('eth_getTransactionReceipt', [txHash]), txHash),
      ),
    fetchFunder: (txHash, token) =>
      call(async () => {
        const receipt = await provider.getTransactionReceipt(txHash);
        const payments = (receipt?.logs ?? [])
          .filter(({ address }) => address.toLowerCase() === token.toLowerCase())
          .map((log) => erc20Interface.parseLog(log))
          .filter((event) => event?.name === 'Transfer' && event.args['to'] === settings.pool);
        const [payment, ...others] = payments;
        return payment === undefined || payment === null || others.length > 0
          ? undefined
          : parseEvmAddress(payment.args['from']);
      }),
    fetchTransactionLeaves: (txHash) =>
      call(async () => {
        const receipt = await pool.fetchReceipt(txHash);
        if (receipt === undefined || !receipt.succeeded) {
          return [];
        }
        const { blockNumber } = receipt;
        const leaves = await pool.fetchPoolLeaves(blockNumber, blockNumber);
        return leaves.filter((leaf) => leaf.txHash === txHash);
      }),
    fetchLeaves: (fromBlock, toBlock) => call(() => pool.fetchPoolLeaves(fromBlock, toBlock)),
    fetchTokenUnit: (token) =>
      call(async () => {
        const contract = connectErc20(token, provider);
        const [symbol, decimals] = [await contract.symbol(), await contract.decimals()];
        return { symbol, decimals: Number(decimals) };
      }),
    close,
  };
}

/** `l1Fee` is in the receipts of rollups of the OP family only. */
function computeGasCost(receipt: unknown, txHash: Hex32): bigint | undefined {
  if (receipt === null) {
    return undefined;
  }
  const { gasUsed, effectiveGasPrice, l1Fee } = receipt as Readonly<Record<string, unknown>>;
  const [used, price, data] = [gasUsed, effectiveGasPrice, l1Fee ?? '0x0'].map(readQuantity);
  if (used === undefined || price === undefined || data === undefined) {
    throw new PoolError(
      'chain_unreachable',
      `the RPC's receipt of transaction ${txHash} does not say what its gas cost; try again, or use another RPC`,
    );
  }
  return used * price + data;
}

function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}

/** Undefined: the data calls another function. */
function readSpend(data: string): SpendCalldata | undefined {
  let args: ReturnType<typeof decodeSpend>;
  try {
    args = decodeSpend(data);
  } catch {
    return undefined;
  }
  const { withdrawAmount, recipient, outRoot } = args.operation;
  return {
    outRoot: parseHex32(outRoot),
    withdrawAmount,
    recipient: withdrawAmount === 0n ? undefined : parseEvmAddress(recipient.toLowerCase()),
  };
}
