/**
 * Frees the notes of a spend whose process ended before anything of it left. What left is durable: a spend is stored as `released` before
 * it is sent ({@link SpendState}). So one that is not released was never sent by this directory. An archive can be older than what was
 * sent, for example from a copy of the machine, so chain and platform are asked as well (docs/decisions/0011).
 *
 * @module
 */
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import { isUnreleased, mayAbandon } from '../archive/spend-state.ts';
import { computePlatformKey, type FollowDeps, type OrphanRule } from './spend-deps.ts';

/** Of a spend that is given up here: nobody saw how its process ended. */
export const interruptedSpendCode = 'interrupted';

/**
 * @param isUsed - a block that is not final uses an input
 * @returns the spend if it is abandoned now. Undefined: it stays open
 * @throws errors of platform and archive
 */
export async function freeOrphan(
  spend: ArchivedSpend,
  isUsed: boolean,
  deps: FollowDeps,
): Promise<ArchivedSpend | undefined> {
  const { orphans } = deps;
  if (orphans === undefined || isUsed || !mayFree(spend, orphans)) {
    return undefined;
  }
  const row = await deps.platform[spend.operation].getSpend(computePlatformKey(spend));
  if (row !== undefined) {
    return undefined;
  }
  const stored = await deps.archive.change(spend.outRoot, (now) =>
    // Another process may have taken it up meanwhile.
    mayFree(now, orphans)
      ? { ...now, state: { kind: 'abandoned', code: interruptedSpendCode } }
      : now,
  );
  if (stored.state.kind !== 'abandoned') {
    return undefined;
  }
  deps.onEvent({ kind: 'outcome', state: stored.state.kind });
  return stored;
}

function mayFree({ state, owner }: ArchivedSpend, { isOrphan, isRemote }: OrphanRule): boolean {
  return (
    isUnreleased(state) && isOrphan(owner) && mayAbandon(state, { isRemote, isRefused: false })
  );
}
