/**
 * Is the pool on chain the one that was built from this source and the pinned keys? Agent, gate and platform ask it before money or
 * a wallet depends on the pool (protocol §8).
 *
 * Attacks prevented here: a verifier without code, under another key, or at another circuit's place, through which money gets in
 * and not out, or out without a note; a pool, note tree or registry with other code.
 *
 * @module
 */
import { type CircuitName, type EvmChainSettings, PoolError } from '@pool/core';
import { askChain, assertChainId } from '@pool/evm-sender';
import { dataSlice, type JsonRpcProvider } from 'ethers';
import { eligibilityRegistryArtifact } from '../generated/eligibility-registry.ts';
import { shieldedPoolArtifact } from '../generated/shielded-pool.ts';
import {
  listVerifierCodes,
  renderNoteTreeCode,
  renderPoolCode,
  renderRegistryCode,
  verifierPlaces,
} from './contract-code.ts';
import { isOfDevelopmentSetup } from './key-words.ts';
import type { CircuitKeys } from './pinned-keys.ts';
import { readImmutableAddress, readLibraryAddress } from './runtime-code.ts';

/** Where development keys may be used. */
export const developmentChains: readonly number[] = [31337, 1337];

export type PoolPlace = Pick<EvmChainSettings, 'chainId' | 'pool' | 'registry'>;

/**
 * The first difference, as a sentence for an operator. Undefined: all contracts are as they must be. One call of the node for
 * each contract.
 * @throws PoolError `chain_unreachable` (retryable), `wrong_chain`
 */
export async function findPoolDifference(
  provider: JsonRpcProvider,
  place: PoolPlace,
  keys: CircuitKeys,
): Promise<string | undefined> {
  const codeAt = (address: string): Promise<string> =>
    askChain(async () => (await provider.getCode(address)).toLowerCase());
  await assertChainId(provider, place);
  const poolCode = await codeAt(place.pool);
  if (poolCode === '0x') return `there is no contract at the pool's address ${place.pool}`;
  const noteTree = readLibraryAddress(shieldedPoolArtifact, poolCode, 'NoteTree');
  const addressOf = (immutable: string): string =>
    readImmutableAddress(shieldedPoolArtifact, poolCode, immutable);
  const verifiers = Object.fromEntries(
    verifierPlaces.map(({ circuit, immutable }) => [circuit, addressOf(immutable)]),
  ) as Record<CircuitName, string>;
  const { registry } = place;
  if (addressOf('eligibilityRegistry').toLowerCase() !== registry.toLowerCase()) {
    return `the contract at the pool's address ${place.pool} does not use the registry ${registry}`;
  }
  if (poolCode !== renderPoolCode(place, { registry, noteTree, verifiers })) {
    return `the contract at the pool's address ${place.pool} does not have the pool's code`;
  }
  const [registryCode, treeCode, ...verifierCodes] = await Promise.all(
    [registry, noteTree, ...Object.values(verifiers)].map(codeAt),
  );
  if (registryCode === undefined || !isRegistry(registryCode)) {
    return `the contract at the registry's address ${registry} does not have the registry's code`;
  }
  if (treeCode !== renderNoteTreeCode(noteTree)) {
    return `the contract at the note tree's address ${noteTree} does not have the note tree's code`;
  }
  for (const [index, { circuit }] of verifierPlaces.entries()) {
    const key = keys[circuit];
    const where = `the verifier of ${circuit} at ${verifiers[circuit]}`;
    if (key === undefined) {
      return `${where} cannot be compared: the manifest pins no verification key of ${circuit}, or the folder of keys lacks it`;
    }
    if (!developmentChains.includes(place.chainId) && isOfDevelopmentSetup(key)) {
      return `${where} is compared with a development key, whose secrets are public: name the manifest of the ceremony's keys`;
    }
    const code = verifierCodes[index];
    if (code === '0x') return `there is no contract at ${where}`;
    if (code === undefined || !listVerifierCodes(circuit, key).includes(code)) {
      return `${where} does not hold the pinned verification key of ${circuit}`;
    }
  }
  return undefined;
}

/**
 * Compares the pool once per process: after an answer without a difference, the chain is not asked again, because deployed code
 * cannot change. Every other answer is asked for again.
 * @returns like `findPoolDifference`
 */
export function createPoolComparison(
  provider: JsonRpcProvider,
  place: PoolPlace,
  readKeys: () => Promise<CircuitKeys>,
): () => Promise<string | undefined> {
  let running: Promise<string | undefined> | undefined;
  return async () => {
    running ??= readKeys().then((keys) => findPoolDifference(provider, place, keys));
    const current = running;
    const forget = (): void => {
      if (running === current) running = undefined;
    };
    try {
      const difference = await current;
      if (difference !== undefined) forget();
      return difference;
    } catch (error) {
      forget();
      throw error;
    }
  };
}

/** @throws PoolError `pool_code_differs`; like `findPoolDifference` */
export async function requirePoolCode(compare: () => Promise<string | undefined>): Promise<void> {
  const difference = await compare();
  if (difference !== undefined) {
    throw new PoolError(
      'pool_code_differs',
      `${difference}; nothing is funded or enrolled there. Compare pool, registry and keys with those that were published`,
    );
  }
}

/** The constructor bounds the grace period, so any value in its place is one that it accepted, if the code is the registry's. */
function isRegistry(code: string): boolean {
  const [start = 0] = eligibilityRegistryArtifact.runtime.immutables.gracePeriodSeconds;
  if (code.length < 2 + 2 * (start + 32)) return false;
  const grace = BigInt(dataSlice(code, start, start + 32));
  return grace >= 3_000n && grace <= 86_400n && code === renderRegistryCode(grace);
}
