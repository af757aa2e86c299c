/**
 * Why a contract wallet does not accept a signature, as far as the signature itself and a Safe show it. For a message only: what counts is
 * the answer of the contract.
 *
 * @module
 */
import type { ContractVerdict } from '@pool/contracts';
import { type EvmAddress, type Hex, parseEvmAddress, parseHex32 } from '@pool/core';
import { computeSafeMessageHash, type OwnersRequest } from '@pool/signers';
import { recoverAddress } from 'ethers';
import type { WalletOwners } from '../adapters/evm-chain.ts';

/** Chains where most wallets are. */
const usualChainIds = [1, 10, 56, 100, 137, 8453, 42161, 11155111];

/**
 * @param input.wallet - its owners now. Undefined: the contract does not show them
 * @param input.chainIds - of the agent's chains
 */
export function explainRefusal(input: {
  readonly request: OwnersRequest;
  readonly signature: Hex;
  readonly verdict: ContractVerdict;
  readonly wallet: WalletOwners | undefined;
  readonly chainIds: readonly number[];
}): string {
  const { request, signature, verdict, wallet, chainIds } = input;
  const { chainId, wallet: address, digest } = request;
  const safeMessageHash = computeSafeMessageHash(chainId, address, digest);
  if (verdict === 'no-contract') {
    return `there is no contract at ${address} on chain ${request.batch.chain}`;
  }
  if (wallet === undefined) {
    return `the contract ${address} does not accept the signature for ${safeMessageHash}`;
  }
  const findOwners = (hash: Hex): readonly EvmAddress[] => [
    ...new Set(recoverSigners(hash, signature).filter((one) => wallet.owners.includes(one))),
  ];
  const own = findOwners(safeMessageHash);
  if (own.length >= wallet.threshold) {
    return `${own.length} owners signed, and the contract accepts it only sorted by owner address, each once`;
  }
  if (own.length > 0) {
    return `${own.length} of its owners signed, and ${wallet.threshold} must: ${own.join(', ')}`;
  }
  if (findOwners(digest).length > 0) {
    return 'the owners signed the digest itself; they must sign the SafeMessage of it';
  }
  const other = [...chainIds, ...usualChainIds].find(
    (id) => id !== chainId && findOwners(computeSafeMessageHash(id, address, digest)).length > 0,
  );
  return other === undefined
    ? `no owner of ${address} signed ${safeMessageHash}: another message was signed, or its owners have changed since`
    : `the owners signed for chain id ${other}, and the batch is on chain id ${chainId}`;
}

/** Of ECDSA parts of 65 bytes. */
function recoverSigners(hash: Hex, signature: Hex): readonly EvmAddress[] {
  const parts = signature.slice(2).match(/.{130}/g) ?? [];
  return parts.flatMap((part) => {
    try {
      return [parseEvmAddress(recoverAddress(parseHex32(hash), `0x${part}`))];
    } catch {
      // Not an ECDSA signature: a contract that owns the wallet may have signed.
      return [];
    }
  });
}
