/**
 * Watches the archived spends that nobody waits for: those of a process that was killed. Their outcome is stored, which frees or uses up
 * their notes. Nothing is sent here. A caller whose connection broke was told to read the chain before it pays again, so a spend that did
 * not leave before the kill must not leave afterwards. Its notes are free again at the next start ({@link freeOrphan}). Only a caller with
 * the same key and a durable journal continues it.
 *
 * @module
 */

import { rethrowInterruption } from '@pool/idempotency/engine';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import { isAskedFor, isUnreleased, mayAbandon } from '../archive/spend-state.ts';
import { concludeSpend } from './conclude-spend.ts';
import {
  computePlatformKey,
  type FollowDeps,
  findSpendContext,
  type OrphanRule,
  reportRetry,
} from './spend-deps.ts';
import { readDecision } from './watch-spend.ts';

/** How many open spends there are after a pass. */
export type FollowPass = {
  /** The chain has not decided them, or did not answer. */
  readonly open: number;
  /** They began with a chain or pool that the settings do not name any more. Their notes stay locked. */
  readonly unroutable: number;
};

/** Reads the chain once for each open spend. @throws when the archive does not answer */
export async function followOnce(deps: FollowDeps): Promise<FollowPass> {
  let open = 0;
  let unroutable = 0;
  for (const spend of await deps.archive.listOpen()) {
    deps.signal.throwIfAborted();
    const { kind } = await followSpend(spend, deps);
    open += kind === 'open' || kind === 'unread' ? 1 : 0;
    unroutable += kind === 'unroutable' ? 1 : 0;
  }
  return { open, unroutable };
}

/** What one look at an open spend found. */
export type FollowedSpend =
  /** Its outcome is stored. */
  | { readonly kind: 'decided'; readonly spend: ArchivedSpend }
  | { readonly kind: 'open' }
  /** The chain did not answer. */
  | { readonly kind: 'unread' }
  /** Another chain or pool is configured now. */
  | { readonly kind: 'unroutable' };

/** Reads the chain once for one open spend. @throws when a test ends the process */
export async function followSpend(spend: ArchivedSpend, deps: FollowDeps): Promise<FollowedSpend> {
  const context = findSpendContext(deps, spend);
  if (context === undefined) {
    return { kind: 'unroutable' };
  }
  try {
    const decision = await readDecision(context, spend);
    if (decision.kind === 'wait') {
      const freed = await freeOrphan(spend, decision.isUsed, deps);
      return freed === undefined ? { kind: 'open' } : { kind: 'decided', spend: freed };
    }
    if (decision.kind !== 'settled' && isAskedFor(spend.state)) {
      await deps.withdraw?.(spend);
    }
    return { kind: 'decided', spend: await concludeSpend(context, spend, decision, deps) };
  } catch (error) {
    rethrowInterruption(error);
    reportRetry(deps, error);
    return { kind: 'unread' };
  }
}

/**
 * Follows until the agent stops.
 * @param pauseMs - between two passes
 * @param findOrphans - asked before each pass, where the rule is not known at once
 */
export async function followSpends(
  deps: FollowDeps,
  pauseMs: number,
  findOrphans?: () => Promise<OrphanRule>,
): Promise<void> {
  while (!deps.signal.aborted) {
    try {
      const orphans = (await findOrphans?.()) ?? deps.orphans;
      await followOnce(orphans === undefined ? deps : { ...deps, orphans });
      await deps.clock.sleep(pauseMs, deps.signal);
    } catch (error) {
      rethrowInterruption(error);
      if (!deps.signal.aborted) {
        reportRetry(deps, error);
        await deps.clock.sleep(pauseMs, deps.signal).catch(() => undefined);
      }
    }
  }
}

/** Of a spend that is given up here: nobody saw how its process ended. */
export const interruptedSpendCode = 'interrupted';

/**
 * Frees the notes of a spend whose process ended before anything of it left. What left is durable: a spend is stored as `released` before
 * it is sent ({@link SpendState}). So one that is not released was never sent by this directory. An archive can be older than what was
 * sent, for example from a copy of the machine, so chain and platform are asked as well (docs/decisions/0011).
 *
 * @param isUsed - a block that is not final uses an input
 * @returns the spend if it is abandoned now. Undefined: it stays open
 * @throws errors of platform and archive
 */
async function freeOrphan(
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
