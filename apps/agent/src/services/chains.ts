/**
 * The agent's own trust root (`chains.json`) and the way from a chain key to a chain: what the platform
 * vends is compared, never adopted (ARCHITECTURE.md, "Who decides").
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { Bootstrap } from '@pool/api';
import {
  batchSizes,
  type ChainsFile,
  type Curve,
  chainFamilies,
  chainsFileSchema,
  type EvmChainSettings,
  findChainFamily,
  PoolError,
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

function parseChainsFile(value: unknown, name: string): ChainsFile {
  try {
    const file = parseWire(chainsFileSchema, value, name);
    for (const { rpcUrl } of Object.values(file.chains)) {
      parseServiceUrl(rpcUrl, 'rpcUrl');
    }
    return file;
  } catch (cause) {
    const detail = cause instanceof PoolError ? `: ${cause.message}` : '';
    throw new PoolError('invalid_configuration', `the chains file does not hold${detail}`, {
      cause,
    });
  }
}

export type RouteDeps = {
  readonly contexts: ReadonlyMap<string, ChainContext>;
  readonly bootstrap: Bootstrap;
  /** Configured default; else the vended one. */
  readonly defaultChain: string | undefined;
  /** Curves that a configured funder signer signs on. */
  readonly signerCurves: readonly Curve[];
  /** Family by key of the chains that the chains file names without a pool. */
  readonly addressOnlyChains: Readonly<Record<string, string>> | undefined;
};

/** Decides whether a request for this chain can be routed, and why not. */
export function routeChain(key: string | undefined, deps: RouteDeps): ChainRoute {
  const { bootstrap } = deps;
  const wanted = key ?? deps.defaultChain ?? bootstrap.chain;
  const context = deps.contexts.get(wanted);
  const { addressOnlyChains = {} } = deps;
  const addressOnlyFamily = Object.hasOwn(addressOnlyChains, wanted)
    ? addressOnlyChains[wanted]
    : undefined;
  if (addressOnlyFamily !== undefined) {
    return invalid(explainAddressOnlyChain(wanted, addressOnlyFamily, deps.signerCurves));
  }
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
  const { curve } = chainFamilies[context.settings.family];
  if (!deps.signerCurves.includes(curve)) {
    return invalid(`chain ${wanted} has ${describeMissingSigner(curve)}`);
  }
  const maxRecipients = Math.min(
    context.settings.maxRecipients,
    bootstrap.maxRecipients[wanted] ?? Number.POSITIVE_INFINITY,
    Math.max(...batchSizes),
  );
  return { kind: 'routable', context, maxRecipients };
}

/** All that stands against paying there, so that nobody mends one thing only to meet the next. */
function explainAddressOnlyChain(
  key: string,
  familyName: string,
  signerCurves: readonly Curve[],
): string {
  const family = findChainFamily(familyName);
  if (family === undefined) {
    const supported = Object.keys(chainFamilies).join(', ');
    return `chain ${key} is of an unsupported platform, ${familyName}: this agent knows ${supported}`;
  }
  const noPool = `chain ${key} has no pool configured`;
  return signerCurves.includes(family.curve)
    ? noPool
    : `${noPool}, and ${describeMissingSigner(family.curve)}`;
}

function describeMissingSigner(curve: Curve): string {
  return `no funder signer for its curve, ${curve}`;
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
