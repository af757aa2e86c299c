/**
 * Before a holder enrols: the pools of its chains file have the contracts that the pinned keys give. An enrolled holder is paid, and
 * could not withdraw from a pool with another spend verifier.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { readChainsFile } from '@pool/configuration';
import { errorCodeOf, PoolError } from '@pool/core';
import { createEvmChain, findKeySource, type KeyPlace } from '../adapters/evm-chain.ts';

/**
 * Without a chains file there is no node to ask: the agent compares at its start.
 * @throws PoolError `pool_code_differs`, `wrong_chain`, `chain_unreachable`
 */
export async function refuseOtherPools(
  settings: KeyPlace & { readonly chainsFile: string },
): Promise<void> {
  if (!existsSync(settings.chainsFile)) {
    return;
  }
  const { chains } = readChainsFile(settings.chainsFile);
  for (const [key, chainSettings] of Object.entries(chains)) {
    const chain = createEvmChain(chainSettings, findKeySource(settings));
    try {
      await chain.requirePool();
    } catch (error) {
      throw errorCodeOf(error) === 'chain_unreachable'
        ? new PoolError(
            'chain_unreachable',
            `the node ${new URL(chainSettings.rpcUrl).host} of chain ${key} does not answer, so it is not known whether the pool has the expected contracts, and nothing was enrolled; set rpcUrl of the chain in ${settings.chainsFile} to a node that answers, and run the command again`,
            { cause: error },
          )
        : error;
    } finally {
      chain.close();
    }
  }
}
