/**
 * The chain and token of a command, from the agent's own settings, so that keys are the same on every run.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Config } from '../../config/config.ts';
import { readChainsFile } from '../../services/peers/chains.ts';

export type DisburseTarget = {
  readonly chain: string;
  /** Symbol. */
  readonly token: string;
  /** Of the token. */
  readonly decimals: number;
};

/** @throws PoolError `invalid-chain`, `invalid-token` */
export function resolveTarget(
  options: { readonly chain?: string; readonly token?: string },
  config: Config,
): DisburseTarget {
  const { chains } = readChainsFile(config.chainsFile);
  const chain = options.chain ?? config.chain ?? Object.keys(chains)[0];
  if (options.chain === undefined && config.chain === undefined && Object.keys(chains).length > 1) {
    throw new PoolError('invalid-chain', 'name the chain with --chain or DISBURSE_CHAIN');
  }
  const settings = chain === undefined ? undefined : chains[chain];
  if (chain === undefined || settings === undefined) {
    throw new PoolError(
      'invalid-chain',
      'the chain is not in chains.json of this agent, or has no pool',
    );
  }
  const token = options.token ?? 'USDC';
  const found = Object.hasOwn(settings.tokens, token) ? settings.tokens[token] : undefined;
  if (found === undefined) {
    throw new PoolError(
      'invalid-token',
      `--token must be one of ${Object.keys(settings.tokens).join(', ')}`,
    );
  }
  return { chain, token, decimals: found.decimals };
}
