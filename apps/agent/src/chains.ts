/**
 * The agent's own trust root (`chains.json`) and the way from a chain key to a chain: what the platform
 * vends is compared, never adopted (ARCHITECTURE.md, "Who decides").
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import {
  type Bootstrap,
  batchSizes,
  type ChainsFile,
  chainsFileSchema,
  type EvmChainSettings,
  PoolError,
  parseEvmAddress,
  parseWire,
  type VendedChain,
} from '@pool/core';
import type { ChainContext, ChainRoute } from '@pool/operations';
import { parseServiceUrl } from '@pool/platform-client';

/** @throws PoolError `invalid_configuration`: unreadable, malformed, or an address or URL that does not hold */
export function readChainsFile(path: string): ChainsFile {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new PoolError(
      'invalid_configuration',
      `the chains file ${path} cannot be read as JSON (DISBURSE_CHAINS_FILE)`,
      { cause },
    );
  }
  return parseChainsFile(value, path);
}

/** Parses and normalises: addresses come out checksummed. */
function parseChainsFile(value: unknown, name: string): ChainsFile {
  try {
    const file = parseWire(chainsFileSchema, value, name);
    return {
      evidence: file.evidence,
      chains: Object.fromEntries(
        Object.entries(file.chains).map(([key, settings]) => [key, normalizeChain(settings)]),
      ),
    };
  } catch (cause) {
    const detail = cause instanceof PoolError ? `: ${cause.message}` : '';
    throw new PoolError('invalid_configuration', `the chains file does not hold${detail}`, {
      cause,
    });
  }
}

function normalizeChain(settings: EvmChainSettings): EvmChainSettings {
  parseServiceUrl(settings.rpcUrl, 'rpcUrl');
  return {
    ...settings,
    pool: parseEvmAddress(settings.pool),
    registry: parseEvmAddress(settings.registry),
    tokens: Object.fromEntries(
      Object.entries(settings.tokens).map(([symbol, token]) => [
        symbol,
        { ...token, address: parseEvmAddress(token.address) },
      ]),
    ),
  };
}

export type RouteDeps = {
  readonly contexts: ReadonlyMap<string, ChainContext>;
  readonly bootstrap: Bootstrap;
  /** Configured default; else the vended one. */
  readonly defaultChain: string | undefined;
  readonly hasFunder: boolean;
};

/** Decides whether a request for this chain can be routed, and why not. */
export function routeChain(key: string | undefined, deps: RouteDeps): ChainRoute {
  const { bootstrap } = deps;
  const wanted = key ?? deps.defaultChain ?? bootstrap.chain;
  const context = deps.contexts.get(wanted);
  if (context === undefined) {
    const known = [...deps.contexts.keys()].sort().join(', ');
    return invalid(`chain must be one this agent is configured for: ${known}`);
  }
  const difference = findDifference(context.settings, bootstrap.chains[wanted]);
  if (difference !== undefined) {
    return invalid(
      `the platform's ${difference} for chain ${wanted} differs from this agent's own settings; nothing is paid there until they agree`,
    );
  }
  if (!deps.hasFunder) {
    return invalid(`no funder signer for the curve of chain ${wanted} is configured`);
  }
  const maxRecipients = Math.min(
    context.settings.maxRecipients,
    bootstrap.maxRecipients[wanted] ?? Number.POSITIVE_INFINITY,
    Math.max(...batchSizes),
  );
  return { kind: 'routable', context, maxRecipients };
}

/** What the platform says otherwise than the agent's own settings. */
function findDifference(
  own: EvmChainSettings,
  vended: VendedChain | undefined,
): string | undefined {
  if (vended === undefined) {
    return undefined;
  }
  if (vended.chainId !== own.chainId) {
    return 'chain id';
  }
  if (!isSameAddress(vended.pool, own.pool)) {
    return 'pool';
  }
  if (!isSameAddress(vended.registry, own.registry)) {
    return 'registry';
  }
  const token = Object.entries(vended.tokens).find(([symbol, address]) => {
    const settings = Object.hasOwn(own.tokens, symbol) ? own.tokens[symbol] : undefined;
    return settings !== undefined && !isSameAddress(settings.address, address);
  });
  return token === undefined ? undefined : `token ${token[0]}`;
}

function isSameAddress(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function invalid(reason: string): ChainRoute {
  return { kind: 'invalid', reason };
}
