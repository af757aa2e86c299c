/**
 * The two files that an operator writes: the policy, and the gate's own chain settings.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readChainsFile } from '@pool/configuration';
import {
  type ChainsFile,
  describeCause,
  type EvmAddress,
  isPoolError,
  PoolError,
  parseStrictJson,
} from '@pool/core';
import { lintPolicy, type Policy, parsePolicy } from '@pool/policy';
import { describeInput } from './gate-home.ts';

// Compares a policy with the gate's chain settings: a batch in a pool or a token that only one of them lists would wait for ever, and
// other decimals would show people another amount than the agent meant.

/** What of a policy the chain settings do not have. */
type ChainsProblem = {
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

export type LoadedPolicy = {
  readonly policy: Policy;
  /** SHA-256 of the file's bytes, hex. In the audit log. */
  readonly sha256: string;
  /** The file as it is. */
  readonly text: string;
};

/**
 * A policy that the gate may use.
 *
 * @throws PoolError `invalid_policy` that names the file and what is wrong in it, each error of the lint included
 */
export function readPolicyFile(
  path: string,
  context: {
    readonly voteLimitSeconds?: number;
    /** Of a command, which reads `-` from standard input. */
    readonly readFile?: (path: string) => string;
  } = {},
): LoadedPolicy {
  const loaded = parsePolicyFile(path, context.readFile);
  const errors = lintPolicy(loaded.policy, context).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    const lines = errors.map(
      ({ path: place, message }) => `\n- ${place === '' ? '' : `${place}: `}${message}`,
    );
    throw new PoolError(
      'invalid_policy',
      `${path} has errors; correct them and run "policy lint":${lines.join('')}`,
    );
  }
  return loaded;
}

/**
 * The policy as it is written, for the lint itself.
 *
 * @param readFile - of a command, which reads `-` from standard input
 * @throws PoolError `invalid_policy` that names the file and what is malformed in it
 */
export function parsePolicyFile(path: string, readFile = readTextFile): LoadedPolicy {
  const { text, value } = readJsonFile(path, readFile);
  try {
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { policy: parsePolicy(value), sha256, text };
  } catch (cause) {
    throw new PoolError('invalid_policy', `${describeInput(path)}: ${describe(cause)}`, { cause });
  }
}

/** @throws PoolError `invalid_configuration` that names the file and what is wrong in it */
export function readChains(path: string): ChainsFile {
  return readChainsFile(path, { variable: 'APPROVE_CHAINS_FILE', allowInsecureRpc: true });
}

type SettingsPlaces = {
  readonly policyFile: string;
  readonly chainsFile: string;
  readonly voteLimitSeconds: number;
};

/** A pool whose chain the gate reads. */
export type PoolPlace = { readonly chainId: number; readonly pool: EvmAddress };

/**
 * Both files, which must fit together.
 *
 * @throws PoolError `invalid_policy`, `invalid_configuration`
 */
export function readSettings(places: SettingsPlaces): {
  readonly loaded: LoadedPolicy;
  readonly chains: ChainsFile;
} {
  const chains = readChains(places.chainsFile);
  return { loaded: readPolicyFor(chains, places), chains };
}

/**
 * A policy whose pools and tokens are in the chain settings.
 *
 * @throws PoolError `invalid_policy` that names each pool or token that is missing or differs
 */
export function readPolicyFor(
  chains: ChainsFile,
  { policyFile, chainsFile, voteLimitSeconds }: SettingsPlaces,
): LoadedPolicy {
  const loaded = readPolicyFile(policyFile, { voteLimitSeconds });
  const problems = compareWithChains(loaded.policy, chains);
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => `\n- ${path}: ${message}`);
    throw new PoolError(
      'invalid_policy',
      `${policyFile} has pools or tokens that ${chainsFile} does not have, with the same chain id, address and decimals; correct one of the files:${lines.join('')}`,
    );
  }
  return loaded;
}

/** Each pool of a policy once. */
export function listPolicyPools({ pools, holders }: Policy): readonly PoolPlace[] {
  const assets = holders.flatMap(({ spend }) => spend?.assets ?? []);
  const places = [...pools, ...assets].map(({ chainId, pool }) => ({ chainId, pool }));
  return [...new Map(places.map((place) => [`${place.chainId} ${place.pool}`, place])).values()];
}

/** Whose newest block tells the time: the pools of the chain, or of every chain if it is none of the policy's. */
export function listClockPlaces(policy: Policy, chainId: number | undefined): readonly PoolPlace[] {
  const all = listPolicyPools(policy);
  const ofChain = all.filter((place) => place.chainId === chainId);
  return ofChain.length > 0 ? ofChain : all;
}

function readTextFile(path: string): string {
  return readFileSync(path, 'utf8');
}

function readJsonFile(
  path: string,
  readFile: (path: string) => string,
): { readonly text: string; readonly value: unknown } {
  let text: string;
  try {
    text = readFile(path);
  } catch (cause) {
    throw new PoolError(
      'invalid_policy',
      `${describeInput(path)} cannot be read${describeCause(cause)}; write the file, or name another one in APPROVE_POLICY_FILE`,
      { cause },
    );
  }
  try {
    return { text, value: parseStrictJson(text, describeInput(path)) };
  } catch (cause) {
    throw new PoolError('invalid_policy', describe(cause), { cause });
  }
}

function describe(cause: unknown): string {
  return isPoolError(cause) ? cause.message : 'is malformed';
}
