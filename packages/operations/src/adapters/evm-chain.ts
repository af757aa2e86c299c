/**
 * An EVM chain through the agent's own RPC: the state of the pool, the registry and the token, and what is final.
 *
 * @module
 */
import {
  type ContractSignature,
  type ContractVerdict,
  checkContractSignature,
  computeFunderQuestionGas,
  connectEligibilityRegistry,
  connectErc20,
  createPoolComparison,
  createPoolReader,
  erc20Interface,
  type FundedBatch,
  requirePoolCode,
  shieldedPoolInterface,
} from '@pool/contracts';
import { type KeySource, readPinnedKeys } from '@pool/contracts/pinned-keys';
import {
  computeBatchId,
  type EvmAddress,
  type EvmChainSettings,
  fieldToHex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseField,
  parseHex32,
} from '@pool/core';
import {
  broadcastTransaction,
  createChainCall,
  createEvmProvider,
  fetchFees,
  isFinal,
} from '@pool/evm-sender';
import { maxApprovalGas } from '@pool/signers';
import { Contract, Interface, type Log } from 'ethers';
import type { ChainPort } from '../ports.ts';

export type WalletOwners = { readonly owners: readonly EvmAddress[]; readonly threshold: number };

const safeInterface = new Interface([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
]);

/** Time limit of one RPC call. */
const rpcTimeoutMs = 10_000;

/** Blocks of one `eth_getLogs`, which most public RPCs allow. */
const logWindowBlocks = 1_000;

export type EvmChain = ChainPort & {
  /** Whether a contract accepts a signature (ERC-1271), asked as the pool asks. @throws PoolError `chain_unreachable` */
  checkContractSignature(subject: ContractSignature): Promise<ContractVerdict>;
  /** Owners and threshold of a Safe now. Undefined: the contract does not show them. */
  fetchOwners(wallet: EvmAddress): Promise<WalletOwners | undefined>;
  /** Frees the connection. */
  close(): void;
};

/**
 * Opens nothing yet; the first call checks that the RPC serves the configured chain.
 * @param keys - with which the pool's verifiers are compared. Default: the development keys
 */
export function createEvmChain(settings: EvmChainSettings, keys?: KeySource): EvmChain {
  const provider = createEvmProvider(settings, rpcTimeoutMs);
  const poolAddress = settings.pool;
  const pool = createPoolReader(provider, settings);
  const registry = connectEligibilityRegistry(settings.registry, provider);
  const call = createChainCall(provider, settings);
  const compare = createPoolComparison(provider, settings, () => readPinnedKeys(keys));

  async function fetchFunded(batchId: Hex32, upTo: number): Promise<FundedBatch> {
    // Newest first and in windows: many RPCs limit the range, and a requested batch is usually recent.
    for (let to = upTo; to >= settings.deployedAtBlock; to -= logWindowBlocks) {
      const from = Math.max(settings.deployedAtBlock, to - logWindowBlocks + 1);
      const batches = await pool.fetchFundedBatches(from, to, batchId);
      const funded = batches.find((batch) => batch.batchId === batchId);
      if (funded !== undefined) {
        return funded;
      }
    }
    throw new PoolError('chain_unreachable', "the RPC does not serve the pool's events");
  }

  const token = (address: EvmAddress) => connectErc20(address, provider);

  return {
    requirePool: () => call(() => requirePoolCode(compare)),
    fetchNonceState: (funder, batchNonce) =>
      call(async () => {
        const finalBlock = await pool.fetchFinalBlock();
        const { number } = finalBlock;
        const batchId = fieldToHex(computeBatchId(funder, parseField(batchNonce)));
        const isUsedAtHead =
          (await pool.fetchBatchRootOf(funder, batchNonce, 'latest')) !== undefined;
        if (number < settings.deployedAtBlock) {
          return { finalBlock, funded: undefined, voided: false, pending: isUsedAtHead };
        }
        const isUsed = (await pool.fetchBatchRootOf(funder, batchNonce, number)) !== undefined;
        return {
          finalBlock,
          funded: isUsed ? await fetchFunded(batchId, number) : undefined,
          voided: await pool.fetchIsVoided(funder, batchNonce, number),
          pending: isUsedAtHead && !isUsed,
        };
      }),
    fetchHeadTimestamp: () => call(() => pool.fetchHeadTimestamp()),
    isEligibilityRootAccepted: (root) => call(() => registry.accepted(root)),
    fetchAllowance: (address, funder) => call(() => token(address).allowance(funder, poolAddress)),
    fetchTokenBalance: (address, account) => call(() => token(address).balanceOf(account)),
    fetchCoinBalance: (account) => call(() => provider.getBalance(account)),
    fetchPermitNonce: (address, funder) => call(() => token(address).nonces(funder)),
    fetchReceipt: (txHash) =>
      call(async () => {
        const receipt = await pool.fetchReceipt(txHash);
        return receipt === undefined
          ? undefined
          : {
              reverted: !receipt.succeeded,
              final: isFinal(receipt, await pool.fetchFinalBlock()),
              blockNumber: receipt.blockNumber,
              gasUsed: receipt.gasUsed,
            };
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
    fetchRevertReason: (txHash) => call(() => pool.fetchRevertReason(txHash)),
    fetchTransferred: (txHash, address, funder) =>
      call(async () => {
        const receipt = await provider.getTransactionReceipt(txHash);
        if (receipt === null) {
          throw new PoolError('chain_unreachable', 'the RPC does not serve a final transaction');
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
        const { maxFeePerGas, maxPriorityFeePerGas } = await fetchFees(provider);
        return {
          chainId: settings.chainId,
          nonce: await provider.getTransactionCount(funder, 'pending'),
          token: address,
          spender: poolAddress,
          value,
          gasLimit: padded < maxApprovalGas ? padded : maxApprovalGas,
          maxFeePerGas,
          maxPriorityFeePerGas,
        };
      }),
    checkContractSignature: (subject) =>
      checkContractSignature(provider, settings, subject, {
        ...{ timeoutMs: rpcTimeoutMs, from: poolAddress, asksDelegated: true },
        gas: computeFunderQuestionGas(subject),
      }),
    async fetchOwners(wallet) {
      const contract = new Contract(wallet, safeInterface, provider);
      try {
        const [owners, threshold] = await call(() =>
          Promise.all([
            contract.getFunction('getOwners')() as Promise<readonly string[]>,
            contract.getFunction('getThreshold')() as Promise<bigint>,
          ]),
        );
        const listed = owners.slice(0, 100).map(parseEvmAddress);
        return { owners: listed, threshold: Number(threshold) };
      } catch {
        return undefined;
      }
    },
    fetchFees: () =>
      call(async () => {
        const { baseFeePerGas = 0n, ...fees } = await fetchFees(provider);
        return { ...fees, baseFeePerGas };
      }),
    fetchMinedNonce: (account) => call(() => provider.getTransactionCount(account, 'latest')),
    broadcast: (rawTransaction) =>
      call(async () => {
        const outcome = await broadcastTransaction(provider, rawTransaction);
        if (outcome.kind === 'unfunded') {
          throw new PoolError(
            'insufficient_gas',
            "the funder account has no coin to pay the approval's gas",
            { cause: outcome.cause },
          );
        }
        if (outcome.kind === 'refused-for-good') {
          throw outcome.cause;
        }
      }),
    close: () => provider.destroy(),
  };
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

/** Folder and manifest of the keys that proofs are made with. */
export type KeyPlace = {
  readonly artifactsDir: string | undefined;
  readonly artifactsManifest: string | undefined;
};

/** The keys with which the verifiers of every pool are compared: those that proofs are made with. */
export function findKeySource({
  artifactsDir,
  artifactsManifest,
}: KeyPlace): Parameters<typeof createEvmChain>[1] {
  return artifactsDir === undefined || artifactsManifest === undefined
    ? undefined
    : { folder: artifactsDir, manifest: artifactsManifest };
}
