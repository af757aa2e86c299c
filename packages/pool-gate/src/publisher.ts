/**
 * The publisher: makes the root of the wanted list final on chain. Changes that arrive while a publication
 * is under way share the next one, so fifty enrolments cost one or two waits for finality. A publication waits until no
 * wallet has arrived for a moment, and contains each wallet that arrived until then. The published
 * tree in memory always belongs to a root that was final. Paths are served from it.
 *
 * Of the gates on one database, one publishes. The others store what is wanted, wait until the stored publication that contains it is
 * final, and follow the publications with their own trees (follow-lists.ts).
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises';
import { errorCodeOf, type Field, fieldToHex, PoolError } from '@pool/core';
import { type Leaders, soleLeader, type Term } from '@pool/database';
import { describeFailure } from '@pool/http-server';
import type { HashMany } from '@pool/notes';
import { openLists } from './follow-lists.ts';
import type { GateDatabase } from './gate-tables.ts';
import { createGathering } from './gathering.ts';
import type { Change } from './past-lists.ts';
import {
  describeFailed,
  type PublicationDeps,
  publicationFailed,
  publishOnce,
  releaseUnused,
  selectChanges,
  selectOpen,
} from './publication.ts';

export type PublisherDeps = PublicationDeps & {
  /** A root is computed once no wallet has arrived for this time. Default: 200 ms. */
  readonly quietMs?: number;
  /** How long paths under a replaced root are served. Default: {@link defaultPastRootSeconds}. */
  readonly pastRootSeconds?: number;
  /** Hashes the tree at start. Default: on this thread. */
  readonly hashMany?: HashMany;
  /** Absent: an embedded database, whose process leads. */
  readonly leaders?: Leaders;
};

export type Publisher = Awaited<ReturnType<typeof startPublisher>>;
const publisherRole = 'publisher';

const defaultQuietMs = 200;
/** How long the leader waits after a publication that failed before it publishes again without being asked. */
const retryMs = 10_000;

/**
 * 50 minutes (docs/decisions/0005): 15 until a block is final, 5 for a proof, 30 until the deadline of a spend, which lies 15
 * minutes ahead and is rounded up to the next quarter of an hour.
 */
export const defaultPastRootSeconds = 3_000;

/** Continues an unfinished publication, and publishes again when the chain's root is not the stored one. */
export async function startPublisher(deps: PublisherDeps) {
  const { db, chain, log, pollIntervalMs, leaders = soleLeader } = deps;
  const { quietMs = defaultQuietMs, pastRootSeconds = defaultPastRootSeconds, signal } = deps;
  const maxAgeMs = pastRootSeconds * 1_000;
  // Before the lists are read: later, only the publication in progress knows what may still land.
  const first = leaders.term(publisherRole);
  if (first !== undefined && (await selectOpen(db)) === undefined) {
    await releaseUnused({ db, assertLeader: first.assertLeader });
  }
  const lists = await openLists(db, { ...deps, maxAgeMs });
  const { tree } = lists;
  const gathering = createGathering(
    () => delay(quietMs, undefined, { signal }).catch(() => undefined),
    () => performance.now(),
  );
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;

  function publishHere(term: Term): Promise<void> {
    const isIncluded = gathering.join();
    if (running !== undefined && isIncluded) {
      return running;
    }
    if (running === undefined) {
      running = publishOnce({ ...deps, lists, assertLeader: term.assertLeader }, gathering).finally(
        () => {
          running = undefined;
        },
      );
      return running;
    }
    // The publication in progress may have read the list before this change. The next one contains it.
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return publishWanted();
      });
    return queued;
  }

  /** @returns whether this gate led until all was published */
  async function publishAsLeader(): Promise<boolean> {
    const term = leaders.term(publisherRole);
    if (term === undefined) {
      return false;
    }
    try {
      await publishHere(term);
      return true;
    } catch (error) {
      if (errorCodeOf(error) === 'database_lock_lost') {
        return false;
      }
      throw error;
    }
  }

  async function publishWanted(): Promise<void> {
    if (!(await publishAsLeader())) {
      await waitForLeader();
    }
  }

  /** Another gate publishes. Resolves once nothing is left of what is wanted now, here too. */
  async function waitForLeader(): Promise<void> {
    const wanted = await selectChanges(db);
    const since = await db
      .selectFrom('publications')
      .select((eb) => eb.fn.max('id').filterWhere('state', '!=', 'open').as('id'))
      .executeTakeFirst();
    while (!signal.aborted) {
      await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined);
      const waiting = new Set((await selectChanges(db)).map(nameChange));
      if (!wanted.some((change) => waiting.has(nameChange(change)))) {
        await lists.follow();
        return;
      }
      if (await publishAsLeader()) {
        return;
      }
      await assertNoneFailed(db, Number(since?.id ?? 0));
    }
    throw publicationFailed('is still in progress: the gate is stopping');
  }

  async function recover(term: Term): Promise<void> {
    const current = await chain.fetchCurrentRoot();
    const open = await selectOpen(db);
    const isKnown = current === (tree.size === 0 ? current : fieldToHex(tree.root));
    const isBehind = open !== undefined || !isKnown || (await selectChanges(db)).length > 0;
    if (isBehind && !deps.signal.aborted) {
      log.info({ open: open !== undefined }, 'the store is ahead of the chain: publishing again');
      await publishHere(term);
    }
  }
  // Meanwhile the gate serves the last final root.
  const recovery =
    first &&
    recover(first).catch((error: unknown) => {
      log.warn({ ...describeFailure(error) }, 'publication at start failed');
    });
  let recovered = first?.epoch;
  let failedAtMs: number | undefined;

  return {
    /** The list under the last final root. Read only. */
    tree,
    /**
     * The list under a root that is final and was not replaced too long ago. It must be read before the next turn of the
     * event loop: a publication may change it then.
     */
    findList: lists.past.find,
    /** Learns what other gates have published. */
    follow: lists.follow,
    /** Why there is no list of a root: `eligibility_root_too_old` (409) or `eligibility_root_unknown` (503, retryable). */
    explainMissing: (root: Field) => explainMissing(db, root),
    /**
     * Publishes the wanted list and waits until its root is final.
     * @throws PoolError `publication_failed` (503, retryable)
     */
    publishWanted,
    /**
     * One step of a gate that shares its database: a follower's lists follow, and the leader publishes what the others stored, or what the
     * leader before left open.
     */
    async keepUp(): Promise<void> {
      const term = leaders.term(publisherRole);
      if (term === undefined) {
        await lists.follow();
      } else if (running === undefined && !isRecent(failedAtMs)) {
        failedAtMs = performance.now();
        if (recovered !== term.epoch) {
          await lists.follow();
          await recover(term);
          recovered = term.epoch;
        } else if ((await selectOpen(db)) !== undefined || (await selectChanges(db)).length > 0) {
          await publishHere(term);
        }
        failedAtMs = undefined;
      }
    },
    /** Transaction of the last final publication. */
    async fetchLastTxHash(): Promise<string | undefined> {
      const row = await db
        .selectFrom('publications')
        .select('tx_hash')
        .where('state', '=', 'final')
        .orderBy('id', 'desc')
        .executeTakeFirst();
      return row?.tx_hash;
    },
    /** Resolves when no publication is in progress. */
    async idle(): Promise<void> {
      await recovery;
      await running?.catch(() => undefined);
    },
  };
}

function isRecent(failedAtMs: number | undefined): boolean {
  return failedAtMs !== undefined && performance.now() - failedAtMs < retryMs;
}

/** What is wanted of which wallet. */
function nameChange({ walletId, wanted }: Change): string {
  return `${walletId} ${wanted}`;
}

/** @throws PoolError `publication_failed` if the leader's publication failed since */
async function assertNoneFailed(db: GateDatabase, since: number): Promise<void> {
  const failed = await db
    .selectFrom('publications')
    .select('state')
    .where('id', '>', since)
    .where('state', 'in', ['reverted', 'dropped'])
    .executeTakeFirst();
  if (failed !== undefined) {
    throw describeFailed(failed.state);
  }
}

async function explainMissing(db: GateDatabase, root: Field): Promise<PoolError> {
  const published = await db
    .selectFrom('publications')
    .select('id')
    .where('root', '=', fieldToHex(root))
    .where('state', '=', 'final')
    .executeTakeFirst();
  return published === undefined
    ? new PoolError(
        'eligibility_root_unknown',
        'the gate has no list of this root: it was never published, or its publication is not final for the gate yet; ask again in a moment',
        { details: { retryAfterSeconds: 2 } },
      )
    : new PoolError(
        'eligibility_root_too_old',
        'this root was replaced too long ago; ask for the root that registry.current() has at a final block now',
      );
}
