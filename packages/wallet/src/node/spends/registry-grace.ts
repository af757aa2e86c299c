/**
 * The check at start that the registry accepts a replaced eligibility root for long enough (protocol §6). If it does not, a transfer that
 * keeps all its times can revert because somebody enrolled meanwhile, and has to be proved again until its deadline. Withdrawals prove
 * under no eligibility root.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { Clock } from '../../ports.ts';
import { neededGraceSeconds } from '../../spend/spend-deps.ts';
import type { Log } from '../log.ts';

/** Pause before a chain that did not answer is asked again, in milliseconds. */
const pauseMs = 60_000;

export type GraceReader = {
  /** Of the chain in chains.json. */
  readonly key: string;
  readonly fetchGraceSeconds: () => Promise<number>;
};

/** Warns once for each chain with too short a grace period. Resolves when every chain has answered, or the agent stops. */
export async function warnOfShortGrace(
  chains: readonly GraceReader[],
  {
    log,
    clock,
    signal,
  }: { readonly log: Log; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  let waiting = chains;
  while (waiting.length > 0 && !signal.aborted) {
    const silent: GraceReader[] = [];
    for (const chain of waiting) {
      try {
        warn(chain.key, await chain.fetchGraceSeconds(), log);
      } catch (error) {
        log.debug({ chain: chain.key, code: errorCodeOf(error) }, 'the grace period was not read');
        silent.push(chain);
      }
    }
    waiting = silent;
    if (waiting.length > 0) {
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }
}

function warn(chain: string, graceSeconds: number, log: Log): void {
  if (graceSeconds < neededGraceSeconds) {
    log.warn(
      { chain, graceSeconds, neededGraceSeconds },
      'the registry accepts a replaced eligibility root for too short a time: transfers can fail while people enrol; the operator of the pool has to deploy a registry with a longer grace period',
    );
  }
}
