/**
 * What the gate asks of a chain: publish a root in the EligibilityRegistry, and see it become final.
 *
 * @module
 */
import { connectEligibilityRegistry } from '@pool/contracts';
import type { EvmChainSettings, Secret } from '@pool/core';
import { assertChainId, createEvmProvider } from './evm-provider.ts';
import { type FinalBlock, fetchFinalBlock } from './finality.ts';
import type { Receipt } from './pool-chain.ts';
import { createTransactionSigner, type SignedTransaction } from './transaction-signer.ts';

export type RegistryChain = {
  readonly publisherAddress: string;
  /** @throws PoolError `wrong_chain` when the RPC serves another chain than configured */
  assertChain(): Promise<void>;
  fetchFinalBlock(): Promise<FinalBlock>;
  /** Root published last as the head knows it; undefined before the first. */
  fetchCurrentRoot(): Promise<string | undefined>;
  signPublish(root: string, nonce: number): Promise<SignedTransaction>;
  /** Signs the same publication with higher fees, for the nonce of one that is not mined. */
  signReplacement(rawTransaction: string): Promise<SignedTransaction>;
  fetchNonce(): Promise<number>;
  fetchNonceAt(block: number): Promise<number>;
  broadcast(rawTransaction: string): Promise<void>;
  fetchReceipt(txHash: string): Promise<Receipt | undefined>;
  close(): void;
};

const zeroWord = `0x${'0'.repeat(64)}`;

export function createEvmRegistryChain(
  settings: EvmChainSettings,
  publisherKey: Secret,
): RegistryChain {
  const provider = createEvmProvider(settings);
  const signer = createTransactionSigner(provider, settings.chainId, publisherKey);
  const registry = connectEligibilityRegistry(settings.registry, provider);
  return {
    publisherAddress: signer.address,
    assertChain: () => assertChainId(provider, settings),
    fetchFinalBlock: () => fetchFinalBlock(provider, settings.finality),
    async fetchCurrentRoot() {
      const root = await registry.current();
      return root === zeroWord ? undefined : root;
    },
    signPublish: (root, nonce) =>
      signer.sign({
        to: settings.registry,
        data: registry.interface.encodeFunctionData('publish', [root]),
        nonce,
      }),
    signReplacement: (raw) => signer.signReplacement(raw, 'same-call'),
    fetchNonce: () => signer.fetchNonce(),
    fetchNonceAt: (block) => provider.getTransactionCount(signer.address, block),
    broadcast: (raw) => signer.broadcast(raw),
    async fetchReceipt(txHash) {
      const receipt = await provider.getTransactionReceipt(txHash);
      return receipt === null
        ? undefined
        : {
            succeeded: receipt.status === 1,
            blockNumber: receipt.blockNumber,
            gasUsed: receipt.gasUsed,
          };
    },
    close: () => provider.destroy(),
  };
}
