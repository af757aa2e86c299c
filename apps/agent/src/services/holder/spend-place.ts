/**
 * Chain and token of a holder's command, as far as its own configuration says.
 *
 * @module
 */
import { readChainsFile } from '@pool/configuration';
import { type EvmAddress, type EvmChainSettings, PoolError } from '@pool/core';
import type { HolderChain } from '@pool/wallet/node';
import type { Config } from '../../config/config.ts';
import { variables } from '../../config/variables.ts';

/** Where a spend takes place, as far as the command's own configuration says. */
export type SpendPlace = {
  /** Undefined: the platform vends it. */
  readonly chain: string | undefined;
  /** Of the token. Undefined: it is not known here. */
  readonly decimals: number | undefined;
  /** Labels of contacts by W. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Pinned addresses by label. */
  readonly destinations: ReadonlyMap<string, string>;
};

/** @param chain - the one that the command names, if it names one */
export function readSpendPlace(
  chain: string | undefined,
  token: string,
  config: Pick<Config, 'chain' | 'chainsFile' | 'holder'>,
): SpendPlace {
  const { key } = findSpendChain(chain, config);
  const decimals = findDecimals(key, token, config);
  return { chain: key, decimals, destinations: config.holder.sendDestinations };
}

/** Of a token. @param chain - undefined: it is not known here, and then every chain must say the same */
export function findDecimals(
  chain: string | undefined,
  token: string,
  { chainsFile }: Pick<Config, 'chainsFile'>,
): number | undefined {
  const found = Object.entries(readChainsFile(chainsFile).chains).flatMap(([key, { tokens }]) =>
    (chain === undefined || chain === key) && Object.hasOwn(tokens, token)
      ? [tokens[token]?.decimals]
      : [],
  );
  return new Set(found).size === 1 ? found[0] : undefined;
}

/** What is undefined is not known here: the platform vends it. @throws PoolError of chains.json */
export function findSpendChain(
  chain: string | undefined,
  config: Pick<Config, 'chain' | 'chainsFile'>,
): { readonly key: string | undefined; readonly settings: EvmChainSettings | undefined } {
  const { chains } = readChainsFile(config.chainsFile);
  const [only, ...others] = Object.keys(chains);
  const key = chain ?? config.chain ?? (others.length === 0 ? only : undefined);
  const settings = key !== undefined && Object.hasOwn(chains, key) ? chains[key] : undefined;
  return { key, settings };
}

/** @throws PoolError `invalid-chain`. Never taken from a discloser: chain and pool are those of the own chains.json */
export function findChain(
  config: Pick<Config, 'chain' | 'chainsFile'>,
  named: string | undefined,
): HolderChain {
  const { key, settings } = findSpendChain(named, config);
  if (key === undefined || settings === undefined) {
    const known = Object.keys(readChainsFile(config.chainsFile).chains).sort().join(', ');
    throw new PoolError(
      'invalid-chain',
      `name one of these chains with --chain or ${variables.chain.name}: ${known}`,
    );
  }
  return { key, settings };
}

/** @throws PoolError `unknown_token` */
export function findToken(symbol: string, { tokens }: EvmChainSettings): EvmAddress {
  const token = Object.hasOwn(tokens, symbol) ? tokens[symbol] : undefined;
  if (token === undefined) {
    throw new PoolError(
      'unknown_token',
      `--token must be one of ${Object.keys(tokens).sort().join(', ')}`,
    );
  }
  return token.address;
}
