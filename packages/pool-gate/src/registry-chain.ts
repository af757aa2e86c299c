/**
 * What the gate does on a chain: it publishes a root in the EligibilityRegistry and waits until that is final.
 *
 * @module
 */
import { connectEligibilityRegistry, publishGasCeiling } from '@pool/contracts';
import { type EvmChainSettings, type Secret, zeroWord } from '@pool/core';
import {
  assertChainId,
  type Call,
  type CallWithGas,
  createEvmProvider,
  createTransactionSigner,
  estimateGasLimit,
  type FinalBlock,
  fetchFinalBlock,
  fetchGasCeiling,
  fetchReceipt,
  type Receipt,
  type SignedTransaction,
  type TransactionCaps,
} from '@pool/evm-sender';
import { Transaction } from 'ethers';

export type RegistryChain = {
  /** Of the key in use. */
  readonly publisherAddress: string;
  /** Signs with another key from now on. No publication of the old one may be open. */
  usePublisherKey(key: Secret): void;
  /** @throws PoolError `wrong_chain` when the RPC serves another chain than configured */
  assertChain(): Promise<void>;
  fetchFinalBlock(): Promise<FinalBlock>;
  /** Seconds for which the registry accepts a root that was replaced. */
  fetchGraceSeconds(): Promise<number>;
  /** The latest published root at the chain's head; undefined before the first. */
  fetchCurrentRoot(): Promise<string | undefined>;
  /** @throws PoolError `fee_cap_reached` (retryable), `gas_ceiling_exceeded` */
  signPublish(root: string, nonce: number): Promise<SignedTransaction>;
  /**
   * Signs the same publication with higher fees, for the nonce of one that is not mined. A gas limit above the ceiling is
   * not repeated.
   * @throws PoolError `fee_cap_reached` (retryable), `gas_ceiling_exceeded`
   */
  signReplacement(rawTransaction: string): Promise<SignedTransaction>;
  /** Of the publisher's account, in the chain's own coin. */
  fetchBalanceWei(): Promise<bigint>;
  fetchNonce(): Promise<number>;
  fetchNonceAt(block: number): Promise<number>;
  /** @throws PoolError `transaction_rejected` when the node will never accept the bytes */
  broadcast(rawTransaction: string): Promise<void>;
  fetchReceipt(txHash: string): Promise<Receipt | undefined>;
  close(): void;
};

export function createEvmRegistryChain(
  settings: EvmChainSettings,
  publisherKey: Secret,
  caps: TransactionCaps = {},
): RegistryChain {
  const provider = createEvmProvider(settings);
  const signer = createTransactionSigner(provider, settings.chainId, publisherKey, caps);
  const registry = connectEligibilityRegistry(settings.registry, provider);
  async function withGas(call: Call): Promise<CallWithGas> {
    const { address } = signer;
    return {
      ...call,
      gasLimit: await estimateGasLimit(provider, address, call, publishGasCeiling),
    };
  }

  return {
    get publisherAddress() {
      return signer.address;
    },
    usePublisherKey: (other) => signer.useKey(other),
    assertChain: () => assertChainId(provider, settings),
    fetchFinalBlock: () => fetchFinalBlock(provider, settings.finality),
    fetchGraceSeconds: async () => Number(await registry.gracePeriodSeconds()),
    async fetchCurrentRoot() {
      const root = await registry.current();
      return root === zeroWord ? undefined : root;
    },
    async signPublish(root, nonce) {
      const data = registry.interface.encodeFunctionData('publish', [root]);
      return await signer.sign(await withGas({ to: settings.registry, data }), nonce);
    },
    async signReplacement(raw) {
      const { to, data, gasLimit } = Transaction.from(raw);
      const isWithin = gasLimit <= (await fetchGasCeiling(provider, publishGasCeiling));
      return await signer.signReplacement(
        raw,
        isWithin || to === null ? 'same-call' : await withGas({ to, data }),
      );
    },
    fetchBalanceWei: () => provider.getBalance(signer.address),
    fetchNonce: () => signer.fetchNonce(),
    fetchNonceAt: (block) => signer.fetchNonceAt(block),
    broadcast: (raw) => signer.broadcast(raw),
    fetchReceipt: (txHash) => fetchReceipt(provider, txHash),
    close: () => provider.destroy(),
  };
}
