/**
 * `chains` of readiness: does the RPC of each chain answer, and for the right chain? Every payment and every balance reads it.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { type EvmChain, withinTime } from '@pool/operations';
import { createFinding, type Probe, probeTimeoutMs } from './readiness.ts';

/** Shorter than the time limit of the whole check, so that an answer can name which chain did not answer. */
const chainTimeoutMs = probeTimeoutMs - 200;

/** One chain that answers is enough to stay in service, as with relayers. */
export function createChainsProbe(
  contexts: ReadonlyMap<string, { readonly chain: Pick<EvmChain, 'fetchHeadTimestamp'> }>,
): Probe {
  return async () => {
    const answers = await Promise.all(
      [...contexts].map(async ([key, { chain }]) => {
        try {
          await withinTime(chain.fetchHeadTimestamp(), chainTimeoutMs);
          return undefined;
        } catch (error) {
          return errorCodeOf(error) === 'wrong_chain'
            ? `the RPC of chain ${key} serves another chain`
            : `the RPC of chain ${key} does not answer`;
        }
      }),
    );
    const troubles = answers.filter((trouble) => trouble !== undefined);
    if (contexts.size === 0) {
      return createFinding(true, 'none', 'chains.json has no chain with a pool');
    }
    if (troubles.length === 0) {
      return createFinding(true, 'reachable', 'the RPC of each chain answers');
    }
    const message = troubles.join('; ');
    return troubles.length < contexts.size
      ? createFinding(true, 'chain_degraded', message)
      : createFinding(false, 'chain_unreachable', message);
  };
}
