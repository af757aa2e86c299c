/**
 * Contract wallets at sign-in: asks the contract on the chain that the text names to check the signature.
 *
 * @module
 */
import { type EvmAddress, type Hex, PoolError, parseHex32, type SignInEvidence } from '@pool/core';
import type { ContractVerdict, PoolChain } from '@pool/relayer';
import { hashMessage } from 'ethers';

/** Checks on behalf of one caller. */
export type ContractWallets = ReturnType<ReturnType<typeof createContractWallets>>;

/** Per chain. The relayer uses the same RPC, so sign-ins must not occupy it. */
export const maxQuestionsAtOnce = 16;

/** Per chain and address: one stranger with worthless signatures must not lock out every contract wallet. */
export const maxQuestionsOfCaller = 4;

/** The last 32 bytes of a signature for a wallet that is not deployed yet (EIP-6492). */
const undeployedMark = '6492'.repeat(16);

/** @returns a checker for the caller at this address */
export function createContractWallets(
  chains: Iterable<Pick<PoolChain, 'settings' | 'checkContractSignature'>>,
) {
  const byId = new Map([...chains].map((chain) => [chain.settings.chainId, chain]));
  // Each chain has its own places: a chain that hangs occupies its places for long, and wallets of other chains need theirs.
  const askers = new Map<number, string[]>();
  return (caller: string) => ({
    /**
     * @returns the answer of the contract; `no-contract` also where the platform has no chain with the id
     * @throws PoolError `contract_wallet_unsupported` (401), `rate_limited` (429), `chain_unreachable`,
     *   `too_many_sign_ins` (503)
     */
    async ask(
      chainId: number,
      address: EvmAddress,
      { message, signature }: SignInEvidence,
    ): Promise<ContractVerdict> {
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

/** @param asking - the addresses whose contracts are being called, once per call */
function assertRoom(asking: readonly string[], caller: string): void {
  if (asking.filter((other) => other === caller).length >= maxQuestionsOfCaller) {
    throw new PoolError(
      'rate_limited',
      'too many sign-ins of contract wallets from this address are in progress; try again in 1 s',
      { details: { retryAfterSeconds: 1 } },
    );
  }
  if (asking.length >= maxQuestionsAtOnce) {
    throw new PoolError('too_many_sign_ins', 'too many sign-ins are under way; try again soon');
  }
}

// Such a signature contains the code that would verify it: that code is not on the chain yet.
function assertUnwrapped(signature: Hex): void {
  if (signature.endsWith(undeployedMark)) {
    throw new PoolError(
      'contract_wallet_unsupported',
      'a signature wrapped for a wallet that is not deployed (EIP-6492) is not accepted: deploy the wallet, and sign without the wrapping',
      { status: 401 },
    );
  }
}
