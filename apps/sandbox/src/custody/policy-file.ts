/**
 * The policies of the sandbox's gate and enclaves, as their operators would write them.
 *
 * @module
 */
import { type ChainsFile, type EvmChainSettings, PoolError } from '@pool/core';
import type { CustodyHolder, CustodyPlace } from './custody-place.ts';

/** Ids that the custodian has given to wallets and to the agent's user. Empty for an enclave. */
export type ProviderIds = {
  readonly wallets: readonly string[];
  readonly initiators: readonly string[];
};

const noIds: ProviderIds = { wallets: [], initiators: [] };

/** The largest payroll of the sandbox, base units. */
const maxAmount = (10n ** 15n).toString();
const longestSeconds = 86_400;

export function createPolicy(
  place: CustodyPlace,
  signs: {
    readonly funder?: ProviderIds | true;
    readonly holders: readonly { readonly holder: CustodyHolder; readonly ids?: ProviderIds }[];
    /** A signer that repeats its signatures may derive viewing keys. */
    readonly isDeterministic: boolean;
  },
): unknown {
  const { chain, chains, funder, employerId } = place;
  const { chainId, pool, tokens } = requireChain(chains, chain);
  const { evidence } = chains;
  const listed = Object.entries(tokens).map(([symbol, token]) => ({
    symbol,
    ...token,
    limits: { maxPerCall: maxAmount, maxPerDay: maxAmount },
  }));
  return {
    version: 1,
    name: 'sandbox',
    evidence,
    pools: [
      {
        chain,
        chainId,
        pool,
        tokens: listed.map(({ symbol, address, decimals, permitName, permitVersion }) => ({
          token: address,
          symbol,
          decimals,
          ...(permitName === undefined || permitVersion === undefined
            ? {}
            : { permit: { name: permitName, version: permitVersion } }),
          maxPerRecipient: maxAmount,
          maxPerBatch: maxAmount,
          maxPerDay: maxAmount,
        })),
      },
    ],
    funders:
      signs.funder === undefined
        ? []
        : [{ address: funder.address, ...(signs.funder === true ? noIds : signs.funder) }],
    employers: signs.funder === undefined ? [] : [employerId],
    deadline: { minSeconds: 0, maxSeconds: longestSeconds },
    maxBatchAgeSeconds: longestSeconds,
    holders: signs.holders.map(({ holder, ids = noIds }) => ({
      walletPub: holder.walletPub,
      ...ids,
      encryptionPublicKeys: [holder.encryptionPublicKey],
      signIn: { ...evidence, chainId, maxValidityMinutes: 60 },
      spend: {
        assets: listed.map(({ address, limits }) => ({ chainId, pool, token: address, ...limits })),
        sendTo: [holder.address, ...holder.sendTo],
        transferTo: holder.transferTo,
      },
      ...(signs.isDeterministic ? { viewingKey: { domain: evidence?.domain } } : {}),
    })),
  };
}

function requireChain({ chains }: ChainsFile, key: string): EvmChainSettings {
  const settings = chains[key];
  if (settings?.family !== 'evm') {
    throw new PoolError('internal_error', 'the chains file has no such EVM chain');
  }
  return settings;
}
