/**
 * The routing from a chain key to a chain. The agent compares what the platform vends with its own settings and never adopts it (ARCHITECTURE.md, "The authority for each fact").
 *
 * @module
 */
import type { Bootstrap } from '@pool/api';
import {
  batchSizes,
  type Curve,
  chainFamilies,
  type EvmChainSettings,
  findChainFamily,
  PoolError,
  type VendedChain,
} from '@pool/core';
import type { ChainRoute } from '../check/checks.ts';
import type { ChainContext } from '../ports.ts';
import { withinTime } from '../within-time.ts';

export type RouteDeps = {
  readonly contexts: ReadonlyMap<string, ChainContext>;
  readonly bootstrap: Bootstrap;
  /** The configured default chain. Undefined: the vended one. */
  readonly defaultChain: string | undefined;
  /** Curves of the configured funder signers. */
  readonly signerCurves: readonly Curve[];
  /** Family by key of the chains that the chains file names without a pool. */
  readonly addressOnlyChains: Readonly<Record<string, string>> | undefined;
};

/** Decides whether a request for this chain can be routed, and gives the reason if it cannot. */
export function routeChain(key: string | undefined, deps: RouteDeps): ChainRoute {
  const { bootstrap } = deps;
  const name = key ?? deps.defaultChain ?? bootstrap.chain;
  const context = deps.contexts.get(name);
  const { addressOnlyChains = {} } = deps;
  const addressOnlyFamily = Object.hasOwn(addressOnlyChains, name)
    ? addressOnlyChains[name]
    : undefined;
  if (addressOnlyFamily !== undefined) {
    return invalid(explainAddressOnlyChain(name, addressOnlyFamily, deps.signerCurves));
  }
  if (context === undefined) {
    const known = [...deps.contexts.keys()].sort().join(', ');
    return invalid(`the chain is not in chains.json, or has no pool; configured chains: ${known}`);
  }
  const difference = findDifference(context.settings, bootstrap.chains[name]);
  if (difference !== undefined) {
    return invalid(
      `the platform's ${difference} for chain ${name} differs from this agent's chains.json; the agent pays nothing on this chain until they agree`,
    );
  }
  const { curve } = chainFamilies[context.settings.family];
  if (!deps.signerCurves.includes(curve)) {
    return invalid(`chain ${name} has ${describeMissingSigner(curve)}`);
  }
  const maxRecipients = Math.min(
    context.settings.maxRecipients,
    bootstrap.maxRecipients[name] ?? Number.POSITIVE_INFINITY,
    Math.max(...batchSizes),
  );
  return { kind: 'routable', context, maxRecipients };
}

/**
 * A chain whose pool does not have the expected contracts is unusable. A node that does not answer in time decides nothing here: the
 * pool is compared again before anything is signed.
 */
export async function refuseOtherPool(route: ChainRoute, timeoutMs: number): Promise<ChainRoute> {
  if (route.kind === 'invalid') {
    return route;
  }
  try {
    await withinTime(route.context.chain.requirePool(), timeoutMs);
  } catch (error) {
    if (error instanceof PoolError && error.code === 'pool_code_differs') {
      return invalid(`chain ${route.context.key}: ${error.message}`);
    }
  }
  return route;
}

/** Every reason at once, so that the operator does not fix one and then meets the next. */
function explainAddressOnlyChain(
  key: string,
  familyName: string,
  signerCurves: readonly Curve[],
): string {
  const family = findChainFamily(familyName);
  if (family === undefined) {
    const supported = Object.keys(chainFamilies).join(', ');
    return `chain ${key} belongs to an unsupported platform, ${familyName}; supported: ${supported}`;
  }
  const noPool = `chain ${key} has no pool configured`;
  return signerCurves.includes(family.curve)
    ? noPool
    : `${noPool}, and ${describeMissingSigner(family.curve)}`;
}

function describeMissingSigner(curve: Curve): string {
  return `no funder signer for its curve, ${curve}`;
}

/** The first setting in which the platform differs from the agent's own settings. */
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
