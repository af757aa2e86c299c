/**
 * Waits for the lock of a chain, token and funder: one batch at a time, so that two batches do not count on the same money. Approvals of
 * one funder wait for each other in the same way, across tokens.
 *
 * @module
 */
import type { Run, WorkStage } from './run.ts';

/**
 * Announces the wait, because another batch may hold the lock until it is final. Does nothing while this run holds the lock.
 * @param next - announced after a wait. Default: the caller announces its own stage
 * @param hold - the lock. Default: that of the chain, token and funder
 */
export async function awaitTurn(run: Run, next?: WorkStage, hold = run.hold): Promise<void> {
  const mustWait = hold.isTaken();
  if (mustWait) {
    await run.announce('awaiting-turn');
  }
  await hold.acquire();
  if (mustWait && next !== undefined) {
    await run.announce(next);
  }
}
