/**
 * Waits for the lock of a chain, token and funder: one batch at a time, so that two batches do not count on the same money.
 *
 * @module
 */
import type { Run, WorkStage } from './run.ts';

/**
 * Announces the wait, because another batch may hold the lock until it is final. Does nothing while this run holds the lock.
 * @param next - announced after a wait. Default: the caller announces its own stage
 */
export async function awaitTurn(run: Run, next?: WorkStage): Promise<void> {
  const mustWait = run.hold.isTaken();
  if (mustWait) {
    await run.announce('awaiting-turn');
  }
  await run.hold.acquire();
  if (mustWait && next !== undefined) {
    await run.announce(next);
  }
}
