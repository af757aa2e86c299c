/**
 * The lists in memory follow the publications in the database, whichever gate made them final. Only this changes the tree.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { parseField } from '@pool/core';
import type { Log } from '@pool/http-server';
import { createEligibilityTree, type EligibilityTree, type HashMany, hashHere } from '@pool/notes';
import type { GateDatabase } from './gate-tables.ts';
import { type Change, createPastLists, type PastLists } from './past-lists.ts';

export type Lists = {
  /** The list under the last root that this process knows as final. */
  readonly tree: EligibilityTree;
  readonly past: PastLists;
  /** Applies what became final since. */
  follow(): Promise<void>;
};

/** Wallets put into the tree in one turn of the event loop, at start. */
const rowsAtOnce = 1_000;

/** @param options.maxAgeMs - how long after its replacement a list is served */
export async function openLists(
  db: GateDatabase,
  options: {
    readonly maxAgeMs: number;
    readonly nowMs: () => number;
    readonly log: Log;
    readonly hashMany?: HashMany;
  },
): Promise<Lists> {
  const { maxAgeMs, nowMs, hashMany = hashHere } = options;
  const { wallets, final } = await readStore(db, new Date(nowMs() - maxAgeMs).toISOString());
  const tree = createEligibilityTree();
  for (const [place, row] of wallets.entries()) {
    if (place % rowsAtOnce === 0) {
      await setImmediate();
    }
    tree.set(row.leaf_index, parseField(row.wallet_id));
  }
  const publications = final.recent.map(({ root, changes, final_at }) => ({
    root,
    changes: parseChanges(changes),
    finalAtMs: Date.parse(final_at ?? ''),
  }));
  const past = await createPastLists(tree, publications, { ...options, hashMany });
  let lastId = final.lastId;
  let following: Promise<void> = Promise.resolve();
  let isQueued = false;

  async function followOnce(): Promise<void> {
    // One publication is open at a time, so they become final in the order of their ids.
    const rows = await db
      .selectFrom('publications')
      .select(['id', 'changes'])
      .where('state', '=', 'final')
      .where('id', '>', lastId)
      .orderBy('id')
      .execute();
    for (const { id, changes } of rows) {
      past.replace(parseChanges(changes));
      lastId = id;
    }
  }

  return {
    tree,
    past,
    follow() {
      // One that has not begun will read what this caller wants too.
      if (!isQueued) {
        isQueued = true;
        following = following
          .catch(() => undefined)
          .then(() => {
            isQueued = false;
            return followOnce();
          });
      }
      return following;
    },
  };
}

/** The wallets of the published list and its publications, as of one moment: another gate may be publishing. */
async function readStore(db: GateDatabase, since: string) {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const wallets = await trx
        .selectFrom('wallets')
        .select(['wallet_id', 'leaf_index'])
        .where('published', '=', true)
        .execute();
      const newest = await trx
        .selectFrom('publications')
        .select((eb) => eb.fn.max('id').as('id'))
        .where('state', '=', 'final')
        .executeTakeFirst();
      // Those of which a list may still be served, the newest first.
      const recent = await trx
        .selectFrom('publications')
        .select(['root', 'changes', 'final_at'])
        .where('state', '=', 'final')
        .where('final_at', '>', since)
        .orderBy('id', 'desc')
        .execute();
      return { wallets, final: { recent, lastId: Number(newest?.id ?? 0) } };
    });
}

function parseChanges(changes: string): Change[] {
  return JSON.parse(changes) as Change[];
}
