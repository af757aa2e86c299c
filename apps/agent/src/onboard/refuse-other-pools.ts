/**
 * Before a holder enrols: the pools of its chains file have the contracts that the pinned keys give. An enrolled holder is paid, and
 * could not withdraw from a pool with another spend verifier.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { errorCodeOf } from '@pool/core';
import { createEvmChain } from '@pool/operations';
import type { OnboardSettings } from '../config/config.ts';
import { findKeySource } from '../services/agent-parts.ts';
import { readChainsFile } from '../services/chains.ts';

/**
 * Without a chains file there is nothing to compare yet, and a node that does not answer decides nothing: the agent compares again
 * before it signs.
 * @throws PoolError `pool_code_differs`, `wrong_chain`
 */
export async function refuseOtherPools(
  settings: Pick<OnboardSettings, 'chainsFile' | 'artifactsDir' | 'artifactsManifest'>,
): Promise<void> {
  if (!existsSync(settings.chainsFile)) {
    return;
  }
  for (const chainSettings of Object.values(readChainsFile(settings.chainsFile).chains)) {
    const chain = createEvmChain(chainSettings, findKeySource(settings));
    try {
      await chain.requirePool();
    } catch (error) {
      if (errorCodeOf(error) !== 'chain_unreachable') {
        throw error;
      }
    } finally {
      chain.close();
    }
  }
}
