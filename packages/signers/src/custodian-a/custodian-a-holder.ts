/**
 * `custodian_a` as a holder's signer: a wallet at the custodian that holds notes and nothing else. A spend is signed there as a bare
 * hash, which could be anything, so it never happens on a wallet that has money on the chain (protocol §7, "No blind signing").
 *
 * @module
 */
import { computeWalletAddress, type EvmAddress, PoolError, type WalletPub } from '@pool/core';
import type { HolderSigner } from '../holder/holder-signer.ts';
import { createRemoteHolder, type RemoteHolderOptions } from '../holder/remote-holder.ts';
import { type CustodianASignerOptions, createWalletSigner } from './custodian-a-signer.ts';

export type CustodianAHolderOptions = Omit<CustodianASignerOptions, 'address'> &
  Pick<RemoteHolderOptions, 'pollMs' | 'sleep'> & {
    /** W, from this side's own configuration, never from the custodian. */
    readonly walletPub: WalletPub;
    /** The funder of the same agent, which must be another wallet. Undefined: the agent has no funder. */
    readonly funder:
      | { readonly address: EvmAddress; readonly walletId?: string | undefined }
      | undefined;
  };

/** What a holder's wallet signs. */
export const holderKinds = ['sign-in', 'spend', 'disclosure'] as const;

/**
 * A holder at custodian A. Each method waits for the vote.
 * @throws PoolError `custodian_misconfigured` if the wallet is the funder's; `invalid_configuration`
 */
export function createCustodianAHolder(options: CustodianAHolderOptions): HolderSigner {
  const { walletPub, funder, pollMs, sleep, ...account } = options;
  const address = computeWalletAddress(walletPub);
  if (funder?.address === address || funder?.walletId === account.walletId) {
    throw new PoolError(
      'custodian_misconfigured',
      'the holder and the funder are the same wallet at the custodian; create a wallet for the holder alone, and set DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID and DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB to it',
    );
  }
  const signer = createWalletSigner({ ...account, address }, holderKinds);
  return createRemoteHolder({ name: 'custodian_a', signer, walletPub, pollMs, sleep });
}
