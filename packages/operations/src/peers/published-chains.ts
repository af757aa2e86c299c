/**
 * `onboard --chains`: makes `chains.json` from the file that the operator of a platform publishes. The file has no RPC of the operator's
 * own, because a node that belongs to the platform could show a chain that does not exist: the person names nodes with `--rpc`. Every
 * setting that a chain can confirm is compared with the chain before the file is written (docs/decisions/0006).
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs';
import { parseChainsFile } from '@pool/configuration';
import {
  createConfigurationError,
  describeCause,
  type EvmChainSettings,
  isPoolError,
  PoolError,
  parseStrictJson,
} from '@pool/core';
import { createDurableFile } from '@pool/storage';
import { findChainDifferences } from '../adapters/chain-differences.ts';

export type PlacedChains = {
  readonly path: string;
  /** Keys of the published chains that have no RPC, so the file does not name them. */
  readonly leftOut: readonly string[];
};

/**
 * Reads, completes, checks and writes the file. The same call again changes nothing.
 *
 * @param published - path of the operator's file
 * @param rpcs - `key=url` of each `--rpc`
 * @param path - of the agent's chains.json
 * @throws PoolError `invalid_configuration` with every difference; `chain_unreachable`, `wrong_chain`; `file_not_written` where another
 *   chains.json exists
 */
export async function placePublishedChains(
  published: string,
  rpcs: readonly string[],
  path: string,
): Promise<PlacedChains> {
  const { content, leftOut } = complete(readPublished(published), parseRpcs(rpcs), published);
  const file = parseChainsFile(content, `the chains file ${published}`);
  const problems = await Promise.all(
    Object.entries(file.chains).map(([key, settings]) => findProblems(key, settings)),
  );
  if (problems.flat().length > 0) {
    throw createConfigurationError(problems.flat());
  }
  write(path, `${JSON.stringify(content, undefined, 2)}\n`);
  return { path, leftOut };
}

function readPublished(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PoolError(
      'invalid_configuration',
      `the file of --chains, ${path}, cannot be read${describeCause(cause)}; name the file that the operator of the platform publishes`,
      { cause },
    );
  }
  const value = parseStrictJson(text, path);
  return isObject(value) ? value : {};
}

function parseRpcs(rpcs: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of rpcs) {
    const [, key, url] = /^([^=]+)=(.+)$/.exec(entry) ?? [];
    if (key === undefined || url === undefined || found.has(key)) {
      throw new PoolError(
        'invalid_request',
        '--rpc must be <chain>=<url>, once for each chain, for example --rpc base=https://node.example',
      );
    }
    found.set(key, url);
  }
  return found;
}

/** The published file with the person's nodes. A chain that has none is left out: nothing could be checked or paid there. */
function complete(
  published: Readonly<Record<string, unknown>>,
  rpcs: ReadonlyMap<string, string>,
  name: string,
): { readonly content: object; readonly leftOut: readonly string[] } {
  const entries = Object.entries(isObject(published['chains']) ? published['chains'] : {});
  const unknown = [...rpcs.keys()].filter((key) => entries.every(([other]) => other !== key));
  if (unknown.length > 0) {
    const known = entries.map(([key]) => key).join(', ');
    throw new PoolError(
      'invalid_request',
      `--rpc names a chain that ${name} does not have; it has ${known === '' ? 'none' : known}`,
    );
  }
  const completed = entries.map(([key, settings]): [string, unknown] => {
    const rpcUrl = rpcs.get(key);
    return [key, isObject(settings) && rpcUrl !== undefined ? { ...settings, rpcUrl } : settings];
  });
  const isUsable = (settings: unknown): boolean =>
    !(isObject(settings) && 'pool' in settings) || 'rpcUrl' in settings;
  const usable = completed.filter(([, settings]) => isUsable(settings));
  const leftOut = completed.filter(([, settings]) => !isUsable(settings)).map(([key]) => key);
  if (usable.length === 0) {
    throw new PoolError(
      'invalid_request',
      `no chain of ${name} has a node: name one that you trust with --rpc <chain>=<url>, for ${leftOut.join(' or ')}`,
    );
  }
  return { content: { ...published, chains: Object.fromEntries(usable) }, leftOut };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function findProblems(key: string, settings: EvmChainSettings): Promise<readonly string[]> {
  try {
    const differences = await findChainDifferences(settings);
    return differences.map((difference) => `chain ${key}: ${difference}`);
  } catch (error) {
    throw isPoolError(error)
      ? new PoolError('chain_unreachable', `chain ${key}: ${error.message}; check its --rpc`, {
          cause: error,
        })
      : error;
  }
}

function write(path: string, text: string): void {
  if (existsSync(path) ? readFileSync(path, 'utf8') === text : createDurableFile(path, text)) {
    return;
  }
  throw new PoolError(
    'file_not_written',
    `${path} exists and differs from what --chains gives; onboard overwrites no configuration. Compare the two, or move it away. Nothing was sent`,
  );
}
