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
  fetchFinalBlock,
  fetchGasCeiling,
  fetchReceipt,
  type TransactionCaps,
} from '@pool/evm-sender';
import { Transaction } from 'ethers';

export type RegistryChain = ReturnType<typeof createEvmRegistryChain>;

export function createEvmRegistryChain(
  settings: EvmChainSettings,
  publisherKey: Secret,
  caps: TransactionCaps = {},
) {
  const provider = createEvmProvider(settings);
  const signer = createTransactionSigner(provider, settings.chainId, publisherKey, caps);
  const registry = connectEligibilityRegistry(settings.registry, provider);
  const { fetchNonce, broadcast } = signer;
  async function withGas(call: Call): Promise<CallWithGas> {
    const gasLimit = await estimateGasLimit(provider, signer.address, call, publishGasCeiling);
    return { ...call, gasLimit };
  }

  return {
    fetchNonce,
    broadcast,
    fetchNonceAt: (block: number, account: string) => signer.fetchNonceAt(block, account),
    /** Of the key in use. */
    get publisherAddress() {
      return signer.address;
    },
    /** Signs with another key from now on. No publication of the old one may be open. */
    usePublisherKey: (other: Secret) => signer.useKey(other),
    /** @throws PoolError `wrong_chain` when the RPC serves another chain than configured */
    assertChain: () => assertChainId(provider, settings),
    fetchFinalBlock: () => fetchFinalBlock(provider, settings.finality),
    /** Seconds for which the registry accepts a root that was replaced. */
    fetchGraceSeconds: async () => Number(await registry.gracePeriodSeconds()),
    /** The latest published root at the chain's head; undefined before the first. */
    async fetchCurrentRoot() {
      const root = await registry.current();
      return root === zeroWord ? undefined : root;
    },
    /** @throws PoolError `fee_cap_reached` (retryable), `gas_ceiling_exceeded` */
    async signPublish(root: string, nonce: number) {
      const data = registry.interface.encodeFunctionData('publish', [root]);
      return await signer.sign(await withGas({ to: settings.registry, data }), nonce);
    },
    /**
     * Signs the same publication with higher fees, for the nonce of one that is not mined. A gas limit above the ceiling is
     * not repeated.
     * @throws PoolError `fee_cap_reached` (retryable), `gas_ceiling_exceeded`
     */
    async signReplacement(raw: string) {
      const { to, data, gasLimit } = Transaction.from(raw);
      const isWithin = gasLimit <= (await fetchGasCeiling(provider, publishGasCeiling));
      return await signer.signReplacement(
        raw,
        isWithin || to === null ? 'same-call' : await withGas({ to, data }),
      );
    },
    /** Of the publisher's account, in the chain's own coin. */
    fetchBalanceWei: () => provider.getBalance(signer.address),
    fetchReceipt: (txHash: string) => fetchReceipt(provider, txHash),
    close: () => provider.destroy(),
  };
}
