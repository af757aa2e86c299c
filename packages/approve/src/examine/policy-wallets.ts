/**
 * The wallets of the policy, each with the address whose key it must have at the custodian.
 *
 * @module
 */
import { computeWalletAddress, type EvmAddress, parseWalletPub } from '@pool/core';
import type { Policy } from '@pool/policy';
import type { GateConfig } from '../config/config.ts';
import { type DoctorCheck, failed, passed } from './doctor.ts';

export type PolicyWallet = {
  /** The custodian's id. */
  readonly wallet: string;
  readonly address: EvmAddress;
};

/** A wallet that two rules list is there twice. */
export function listPolicyWallets({ funders, holders }: Policy): readonly PolicyWallet[] {
  return [
    ...funders.flatMap(({ address, wallets }) => wallets.map((wallet) => ({ wallet, address }))),
    ...holders.flatMap(({ walletPub, wallets }) => {
      const address = computeWalletAddress(parseWalletPub(walletPub));
      return wallets.map((wallet) => ({ wallet, address }));
    }),
  ];
}

/** What the gate judges for an address. */
export type WalletStanding = {
  readonly custodian: GateConfig['custodian']['kind'];
  readonly roles: readonly ('funder' | 'holder')[];
};

/** Empty: the policy does not list the address, so every manifest of it is refused. */
export function findWalletRoles(
  { funders, holders }: Policy,
  address: EvmAddress,
): WalletStanding['roles'] {
  const isHeld = holders.some(
    ({ walletPub }) => computeWalletAddress(parseWalletPub(walletPub)) === address,
  );
  return [
    ...(funders.some((funder) => funder.address === address) ? (['funder'] as const) : []),
    ...(isHeld ? (['holder'] as const) : []),
  ];
}

export function checkListed(wallets: readonly PolicyWallet[]): DoctorCheck {
  const count = new Set(wallets.map(({ wallet }) => wallet)).size;
  return count > 0
    ? passed('wallets', `the policy lists ${count} wallets`)
    : failed('wallets', 'the policy lists no wallet; add wallet ids to a funder or holder');
}

/** @param shown - what the custodian shows: `other`: another key or address; `unknown`: no such wallet */
export function checkAddress(
  { wallet, address }: PolicyWallet,
  shown: 'same' | 'other' | 'unknown',
): DoctorCheck {
  switch (shown) {
    case 'same':
      return passed('wallet-address', `wallet ${wallet}: it has the address of the policy`);
    case 'other':
      return failed(
        'wallet-address',
        `wallet ${wallet}: at the custodian it does not have the address ${address}; correct the wallet id or the address in the policy`,
      );
    case 'unknown':
      return failed(
        'wallet-address',
        `wallet ${wallet}: the custodian does not know it; correct the wallet id in the policy`,
      );
  }
}
