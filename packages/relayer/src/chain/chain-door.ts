/**
 * Whether a chain's pool is the expected one (docs/decisions/0010). While its node shows other contracts or another chain, that
 * chain is closed: nothing is accepted, sent, indexed or erased there. The other chains go on. A node that lags shows no contracts,
 * so the chain opens again once the comparison succeeds.
 *
 * @module
 */
import { errorCodeOf, PoolError } from '@pool/core';
import type { Log } from '@pool/http-server';
import type { PoolChain } from './pool-chain.ts';

export function createChainDoor(
  chain: Pick<PoolChain, 'key' | 'assertChain'>,
  log: Pick<Log, 'info' | 'error'>,
) {
  let problem: PoolError | undefined;
  return {
    /** Must succeed before work on the chain. @throws PoolError `wrong_chain`, `pool_code_differs`, `chain_unreachable` */
    async look(): Promise<void> {
      try {
        await chain.assertChain();
      } catch (error) {
        const code = errorCodeOf(error);
        // A chain that does not answer may be the right one.
        if (
          error instanceof PoolError &&
          (code === 'wrong_chain' || code === 'pool_code_differs')
        ) {
          const closed = new PoolError(code, `chain ${chain.key} is closed: ${error.message}`);
          if (problem?.message !== closed.message) {
            log.error({ chain: chain.key, code: closed.code }, closed.message);
          }
          problem = closed;
        }
        throw error;
      }
      if (problem !== undefined) {
        log.info({ chain: chain.key }, 'the pool is the expected one: the chain is open');
        problem = undefined;
      }
    },
    /** Why the chain is closed. Undefined: no other pool was seen. */
    check: () => problem,
  };
}
