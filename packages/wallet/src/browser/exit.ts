/**
 * The exit of a browser: withdrawals that the account submits itself, with its seed, its notes and a chain RPC. It has the interface of the
 * platform's spend routes, so a spend that the platform refused is continued with the authorisation that it has.
 *
 * @module
 */
import {
  type EvmAddress,
  type EvmChainSettings,
  PoolError,
  parseEvmAddress,
  type Secret,
  type SpendReceipt,
} from '@pool/core';
import { createEvmGasChain } from '../evm/gas-chain.ts';
import {
  createSelfSubmitter,
  type GasQuote,
  type SelfSubmitter,
  type SelfSubmitterOptions,
} from '../evm/self-submitter.ts';

export type ExitOptions = {
  /**
   * Secret. Pays the gas: its account must have coin of the chain. Its address is public beside the withdrawal. The account's own key
   * (`deriveWalletKey`) withdraws to the account itself only.
   */
  readonly gasKey: Secret;
  /** Wei for all gas of one transaction. */
  readonly gasCapWei: bigint;
  /** After each transaction that a node has. */
  readonly onSent?: SelfSubmitterOptions['onSent'];
};

/** A withdrawal before anything of it is proved, stored or sent. Amounts are base units. */
export type ExitPlan = {
  readonly receipt: SpendReceipt;
  readonly gas: GasQuote;
  /** What the transaction publishes for everybody and for ever. Notes and the rest of the balance stay hidden. */
  readonly revealed: {
    /** Pays the gas. */
    readonly sender: EvmAddress;
    readonly recipient: EvmAddress;
    /** Symbol. */
    readonly token: string;
    readonly amount: bigint;
  };
};

/** What sends the transactions. */
export type ExitSubmitter = SelfSubmitter & { close(): void };

/** @param options.settings - of the chain, whose RPC is the only service that is called */
export function createExitSubmitter({
  settings,
  ...options
}: Omit<SelfSubmitterOptions, 'chain'> & {
  readonly settings: EvmChainSettings;
}): ExitSubmitter {
  const chain = createEvmGasChain(settings);
  return { ...createSelfSubmitter({ ...options, chain }), close: chain.close };
}

/**
 * The sender of a transaction is public. Sent with the account's own key, it would say who withdraws to another address.
 * @param account - its address
 * @throws PoolError `gas_key_refused`
 */
export function assertUnlinked(
  { address }: Pick<ExitSubmitter, 'address'>,
  account: string,
  recipient: EvmAddress | undefined,
): void {
  const own = parseEvmAddress(account);
  if (address === own && recipient !== undefined && recipient !== own) {
    throw new PoolError(
      'gas_key_refused',
      `the account itself pays the gas, so the transaction would publish that ${own} withdraws to ${recipient}; withdraw to the account itself, or pay the gas from another account`,
    );
  }
}
