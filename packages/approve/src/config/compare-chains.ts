/**
 * Compares a policy with the gate's chain settings: a batch in a pool or a token that only one of them lists would wait for ever, and
 * other decimals would show people another amount than the agent meant.
 *
 * @module
 */
import type { ChainsFile, EvmAddress } from '@pool/core';
import type { Policy } from '@pool/policy';

/** What of a policy the chain settings do not have. */
export type ChainsProblem = {
  /** Place in the policy, for example `pools.0.tokens.1.decimals`. */
  readonly path: string;
  readonly message: string;
};

type Settings = ChainsFile['chains'][string];
type Asset = { readonly token: EvmAddress; readonly decimals?: number };

/** Empty: each pool of the policy is there with the same chain id and address, and each token with the same address and decimals. */
export function compareWithChains(
  { pools, holders }: Policy,
  { chains }: ChainsFile,
): readonly ChainsProblem[] {
  const inPools = pools.flatMap(({ chain, chainId, pool, tokens }, index) => {
    const path = `pools.${index}`;
    const settings = chains[chain];
    if (settings?.chainId !== chainId || settings.pool !== pool) {
      return [{ path, message: `${chain}, chain id ${chainId}, pool ${pool}` }];
    }
    return tokens.flatMap((rule, place) =>
      compareToken(rule, chain, settings, `${path}.tokens.${place}`),
    );
  });
  const inHolders = holders.flatMap(({ spend }, holder) =>
    (spend?.assets ?? []).flatMap(({ chainId, pool, token }, asset) => {
      const path = `holders.${holder}.spend.assets.${asset}`;
      const found = Object.entries(chains).find(
        ([, one]) => one.chainId === chainId && one.pool === pool,
      );
      if (found === undefined) {
        return [{ path, message: `chain id ${chainId}, pool ${pool}` }];
      }
      return compareToken({ token }, ...found, path);
    }),
  );
  return [...inPools, ...inHolders];
}

function compareToken(
  { token, decimals }: Asset,
  chain: string,
  { tokens }: Settings,
  path: string,
): readonly ChainsProblem[] {
  const listed = Object.values(tokens).filter(({ address }) => address === token);
  const [first] = listed;
  if (first === undefined) {
    return [{ path, message: `${chain}, token ${token}` }];
  }
  return decimals === undefined || listed.some((one) => one.decimals === decimals)
    ? []
    : [
        {
          path: `${path}.decimals`,
          message: `${decimals}, but ${chain} has ${first.decimals} for token ${token}`,
        },
      ];
}
