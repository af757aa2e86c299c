/**
 * Contract wallets at the sign-in: puts a signature to the contract on the chain that the text names.
 *
 * @module
 */
import { type EvmAddress, type Hex, PoolError, parseHex32, type SignInEvidence } from '@pool/core';
import { hashMessage } from 'ethers';
import type { ContractVerdict } from '../chain/contract-signature.ts';
import type { PoolChain } from '../chain/pool-chain.ts';

/** As one caller may ask. */
export type ContractWallets = {
  /**
   * @returns what the contract at the address says; `no-contract` too where this platform has no chain of the id
   * @throws PoolError `contract_wallet_unsupported` (401), `rate_limited` (429), `chain_unreachable`,
   *   `too_many_sign_ins` (503)
   */
  ask(chainId: number, address: EvmAddress, evidence: SignInEvidence): Promise<ContractVerdict>;
};

/** Of one chain. The relayer uses the same RPC: strangers who sign in must not take it over. */
export const maxQuestionsAtOnce = 16;

/** Of a chain's: a single stranger with signatures of nobody must not keep every contract wallet out. */
export const maxQuestionsOfCaller = 4;

/** What a signature for a wallet that is not deployed yet ends with (EIP-6492). */
const undeployedMark = '6492'.repeat(16);

/** @returns what a caller, named by his address, may ask through */
export function createContractWallets(
  chains: Iterable<Pick<PoolChain, 'settings' | 'checkContractSignature'>>,
): (caller: string) => ContractWallets {
  const byId = new Map([...chains].map((chain) => [chain.settings.chainId, chain]));
  // Each chain by itself: one that hangs keeps its places for long, and the wallets of the others need theirs.
  const askers = new Map<number, string[]>();
  return (caller) => ({
    async ask(chainId, address, { message, signature }) {
      assertUnwrapped(signature);
      const chain = byId.get(chainId);
      if (chain === undefined) {
        return 'no-contract';
      }
      const asking = askers.get(chainId) ?? [];
      askers.set(chainId, asking);
      assertRoom(asking, caller);
      asking.push(caller);
      try {
        const digest = parseHex32(hashMessage(message));
        return await chain.checkContractSignature({ address, digest, signature });
      } finally {
        asking.splice(asking.indexOf(caller), 1);
      }
    },
  });
}

/** @param asking - who asks the chain now, once for each question */
function assertRoom(asking: readonly string[], caller: string): void {
  if (asking.filter((other) => other === caller).length >= maxQuestionsOfCaller) {
    throw new PoolError(
      'rate_limited',
      'too many sign-ins from this address are put to contracts; try again in 1 s',
      { status: 429, retryable: true, details: { retryAfterSeconds: 1 } },
    );
  }
  if (asking.length >= maxQuestionsAtOnce) {
    throw new PoolError('too_many_sign_ins', 'too many sign-ins are under way; try again soon', {
      status: 503,
      retryable: true,
    });
  }
}

// Such a signature brings the code that is to vouch for it along: nothing of it is on the chain yet.
function assertUnwrapped(signature: Hex): void {
  if (signature.endsWith(undeployedMark)) {
    throw new PoolError(
      'contract_wallet_unsupported',
      'a signature wrapped for a wallet that is not deployed (EIP-6492) is not taken: deploy the wallet, and sign without the wrapping',
      { status: 401 },
    );
  }
}
