/**
 * The publisher: makes the root of the wanted list final on chain. Changes that arrive while a publication
 * is under way share the next one, so fifty enrolments cost one or two waits for finality. A publication waits until no
 * wallet has arrived for a moment, and contains each wallet that arrived until then. The published
 * tree in memory always belongs to a root that was final. Paths are served from it.
 *
 * @module
 */

import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { type Field, fieldToHex, PoolError, parseField } from '@pool/core';
import type { Ownership } from '@pool/database';
import { fetchNonceOutcome, sendAgain } from '@pool/evm-sender';
import { describeFailure, type Log } from '@pool/http-server';
import { createEligibilityTree, type EligibilityTree, type HashMany, hashHere } from '@pool/notes';
import type { Selectable } from 'kysely';
import type { GateDatabase, GateTables } from './gate-tables.ts';
import { createGathering, type Gathering } from './gathering.ts';
import { lockLeaves, releaseLeaves } from './leaves.ts';
import {
  applyChanges,
  type Change,
  createPastLists,
  type FinalPublication,
  type PastLists,
} from './past-lists.ts';
import type { RegistryChain } from './registry-chain.ts';

export type PublisherDeps = {
  readonly db: GateDatabase;
  readonly chain: RegistryChain;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly pollIntervalMs: number;
  /** How long a publication's first transaction waits to be mined before another one replaces it. */
  readonly replaceAfterMs: number;
  /** A root is computed once no wallet has arrived for this time. Default: 200 ms. */
  readonly quietMs?: number;
  /** How long paths under a replaced root are served. Default: {@link defaultPastRootSeconds}. */
  readonly pastRootSeconds?: number;
  /** Called when no publication is open, before one is signed: another key may be used from here on. */
  readonly beforeSigning?: () => void;
  /** Hashes the tree at start. Default: on this thread. */
  readonly hashMany?: HashMany;
  /** Called in each transaction that stores signed bytes, as in the relayer. */
  readonly assertOwner?: Ownership['assertOwner'];
  /** Aborted at shutdown: a wait for finality ends then, and continues at the next start. */
  readonly signal: AbortSignal;
};

export type Publisher = Awaited<ReturnType<typeof startPublisher>>;
type Publication = Selectable<GateTables['publications']>;
/** A publication in progress works on the published tree and on the lists before it. */
type Lists = { readonly tree: EligibilityTree; readonly past: PastLists };

const defaultQuietMs = 200;

/** Wallets put into the tree in one turn of the event loop, at start. */
const rowsAtOnce = 1_000;

/**
 * 50 minutes (docs/decisions/0005): 15 until a block is final, 5 for a proof, 30 until the deadline of a spend, which lies 15
 * minutes ahead and is rounded up to the next quarter of an hour.
 */
export const defaultPastRootSeconds = 3_000;

/** Continues an unfinished publication, and publishes again when the chain's root is not the stored one. */
export async function startPublisher(deps: PublisherDeps) {
  const { db, chain, log } = deps;
  const tree = createEligibilityTree();
  // Before the first publication: later, only the publication in progress knows what may still land.
  if ((await selectOpen(db)) === undefined) {
    await releaseUnused(db);
  }
  const rows = await db.selectFrom('wallets').selectAll().where('published', '=', true).execute();
  for (const [place, row] of rows.entries()) {
    if (place % rowsAtOnce === 0) {
      await setImmediate();
    }
    tree.set(row.leaf_index, parseField(row.wallet_id));
  }
  const { quietMs = defaultQuietMs, pastRootSeconds = defaultPastRootSeconds, signal } = deps;
  const maxAgeMs = pastRootSeconds * 1_000;
  const past = await createPastLists(tree, await selectFinal(deps, maxAgeMs), {
    maxAgeMs,
    nowMs: deps.nowMs,
    log,
    hashMany: deps.hashMany ?? hashHere,
  });
  const lists: Lists = { tree, past };
  const gathering = createGathering(
    () => delay(quietMs, undefined, { signal }).catch(() => undefined),
    () => performance.now(),
  );
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;

  function publishWanted(): Promise<void> {
    const isIncluded = gathering.join();
    if (running !== undefined && isIncluded) {
      return running;
    }
    if (running === undefined) {
      running = publishOnce(deps, lists, gathering).finally(() => {
        running = undefined;
      });
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

  async function recover(): Promise<void> {
    const current = await chain.fetchCurrentRoot();
    const open = await selectOpen(db);
    const isKnown = current === (tree.size === 0 ? current : fieldToHex(tree.root));
    const isBehind = open !== undefined || !isKnown || (await selectChanges(db)).length > 0;
    if (isBehind && !deps.signal.aborted) {
      log.info({ open: open !== undefined }, 'the store is ahead of the chain: publishing again');
      await publishWanted();
    }
  }
  // Meanwhile the gate serves the last final root.
  const recovery = recover().catch((error: unknown) => {
    log.warn({ ...describeFailure(error) }, 'publication at start failed');
  });

  return {
    /** The list under the last final root. Read only. */
    tree,
    /**
     * The list under a root that is final and was not replaced too long ago. It must be read before the next turn of the
     * event loop: a publication may change it then.
     */
    findList: past.find,
    /** Why there is no list of a root: `eligibility_root_too_old` (409) or `eligibility_root_unknown` (503, retryable). */
    explainMissing: (root: Field) => explainMissing(db, root),
    /**
     * Publishes the wanted list and waits until its root is final.
     * @throws PoolError `publication_failed` (503, retryable)
     */
    publishWanted,
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

async function publishOnce(deps: PublisherDeps, lists: Lists, gathering: Gathering): Promise<void> {
  const { db, chain } = deps;
  const { tree } = lists;
  const open = await selectOpen(db);
  if (open !== undefined) {
    await finish(deps, lists, open);
  }
  await releaseUnused(db);
  await gathering.untilQuiet();
  const changes = await selectChanges(db);
  const root = fieldToHex(computeRootWith(tree, changes));
  const isCurrent = (await chain.fetchCurrentRoot()) === root;
  if (changes.length === 0 && (isCurrent || tree.size === 0)) {
    return;
  }
  deps.beforeSigning?.();
  await finish(deps, lists, await sendPublication(deps, root, changes));
}

/** Signs, stores and sends: the bytes are stored before they are sent, so after a crash the same ones are sent again. */
async function sendPublication(
  deps: PublisherDeps,
  root: string,
  changes: readonly Change[],
): Promise<Publication> {
  const { db, chain, log } = deps;
  const now = new Date(deps.nowMs()).toISOString();
  try {
    const signed = await chain.signPublish(root, await chain.fetchNonce());
    const publication = await db.transaction().execute(async (trx) => {
      await deps.assertOwner?.(trx);
      return await trx
        .insertInto('publications')
        .values({
          root,
          changes: JSON.stringify(changes),
          nonce: signed.nonce,
          tx_hash: signed.txHash,
          raw_transaction: signed.rawTransaction,
          replaced_hashes: '[]',
          sent_at: now,
          state: 'open',
          created_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
    });
    log.info({ txHash: signed.txHash, changes: changes.length }, 'publishing a root');
    return publication;
  } catch (cause) {
    throw publicationFailed('could not be signed', cause);
  }
}

/** Waits until a publication is final and applies its changes, or finds that it never will be final. */
async function finish(
  deps: PublisherDeps,
  { past }: Lists,
  publication: Publication,
): Promise<void> {
  const { outcome, txHash } = await waitUntilFinal(deps, publication);
  if (outcome !== 'final') {
    await deps.db.transaction().execute(async (trx) => {
      await lockLeaves(trx);
      await trx
        .updateTable('publications')
        .set({ state: outcome, tx_hash: txHash })
        .where('id', '=', publication.id)
        .execute();
      await releaseLeaves(trx);
    });
    throw publicationFailed(outcome === 'reverted' ? 'was reverted' : 'was displaced');
  }
  const changes = JSON.parse(publication.changes) as Change[];
  const now = new Date(deps.nowMs()).toISOString();
  await deps.db.transaction().execute(async (trx) => {
    await lockLeaves(trx);
    for (const { walletId, wanted } of changes) {
      await trx
        .updateTable('wallets')
        .set({ published: wanted, whitelisted_at: wanted ? now : null })
        .where('wallet_id', '=', walletId)
        .execute();
    }
    await trx
      .updateTable('publications')
      .set({ state: 'final', tx_hash: txHash, final_at: now })
      .where('id', '=', publication.id)
      .execute();
    // In the same transaction: a leaf is free exactly when a final root no longer has its wallet.
    await releaseLeaves(trx);
  });
  past.replace(changes);
}

type Outcome = {
  readonly outcome: 'final' | 'reverted' | 'dropped';
  /** Of the transaction that decided. */
  readonly txHash: string;
};

async function waitUntilFinal(deps: PublisherDeps, { id }: Publication): Promise<Outcome> {
  const { db, chain, log, pollIntervalMs, signal } = deps;
  for (;;) {
    if (signal.aborted) {
      throw publicationFailed('is still in progress: the gate is stopping');
    }
    try {
      const sent = await db
        .selectFrom('publications')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const { nonce, tx_hash: txHash } = sent;
      const txHashes = [txHash, ...parseReplaced(sent)];
      const final = await chain.fetchFinalBlock();
      const seen = await fetchNonceOutcome(chain, { nonce, txHashes }, final);
      switch (seen.kind) {
        case 'mined':
          break;
        case 'final':
          return { outcome: seen.receipt.succeeded ? 'final' : 'reverted', txHash: seen.txHash };
        case 'replaced':
          return { outcome: 'dropped', txHash };
        case 'pending':
          await resend(deps, sent);
      }
    } catch (error) {
      log.warn({ ...describeFailure(error) }, 'waiting for a publication');
    }
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Sends the stored bytes again. After a long wait it sends the same root at the same nonce with higher fees, stored first.
 * The replacement has a gas limit within the ceiling, so bytes that every node rejects are replaced too.
 */
async function resend(deps: PublisherDeps, sent: Publication): Promise<void> {
  const { db, chain, log, nowMs, replaceAfterMs } = deps;
  const { nonce, raw_transaction: rawTransaction } = sent;
  const replaced = parseReplaced(sent);
  const signedAtMs = Date.parse(sent.sent_at);
  await sendAgain(
    { nonce, rawTransaction, signedAtMs, count: replaced.length + 1 },
    {
      ...{ nowMs, replaceAfterMs, fetchNonce: chain.fetchNonce, broadcast: chain.broadcast },
      sign: () => chain.signReplacement(rawTransaction),
      async store({ txHash, rawTransaction: raw_transaction }) {
        await db.transaction().execute(async (trx) => {
          await deps.assertOwner?.(trx);
          await trx
            .updateTable('publications')
            .set({
              tx_hash: txHash,
              raw_transaction,
              replaced_hashes: JSON.stringify([sent.tx_hash, ...replaced]),
              sent_at: new Date(nowMs()).toISOString(),
            })
            .where('id', '=', sent.id)
            .execute();
        });
        log.warn(
          { txHash },
          'the transaction was not mined in time: publishing again with higher fees',
        );
        return true;
      },
    },
  );
}

function parseReplaced({ replaced_hashes }: Publication): string[] {
  return JSON.parse(replaced_hashes) as string[];
}

async function selectOpen(db: GateDatabase): Promise<Publication | undefined> {
  return await db
    .selectFrom('publications')
    .selectAll()
    .where('state', '=', 'open')
    .orderBy('id')
    .executeTakeFirst();
}

/** Those of which a list may still be served, the newest first. */
async function selectFinal(
  { db, nowMs }: PublisherDeps,
  maxAgeMs: number,
): Promise<FinalPublication[]> {
  const rows = await db
    .selectFrom('publications')
    .select(['root', 'changes', 'final_at'])
    .where('state', '=', 'final')
    .where('final_at', '>', new Date(nowMs() - maxAgeMs).toISOString())
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ root, changes, final_at }) => ({
    root,
    changes: JSON.parse(changes) as Change[],
    finalAtMs: Date.parse(final_at ?? ''),
  }));
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

async function selectChanges(db: GateDatabase): Promise<Change[]> {
  const rows = await db
    .selectFrom('wallets')
    .select(['wallet_id', 'leaf_index', 'wanted'])
    .whereRef('wanted', '!=', 'published')
    .orderBy('leaf_index')
    .execute();
  return rows.map((row) => ({
    walletId: row.wallet_id,
    leafIndex: row.leaf_index,
    wanted: row.wanted,
  }));
}

async function releaseUnused(db: GateDatabase): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockLeaves(trx);
    await releaseLeaves(trx);
  });
}

// The published tree is changed and restored in one turn of the event loop, so no request sees it in between.
function computeRootWith(tree: EligibilityTree, changes: readonly Change[]) {
  applyChanges(tree, changes);
  const { root } = tree;
  applyChanges(
    tree,
    changes.map((change) => ({ ...change, wanted: !change.wanted })),
  );
  return root;
}

function publicationFailed(what: string, cause?: unknown): PoolError {
  return new PoolError('publication_failed', `the publication of the list ${what}; try again`, {
    cause,
  });
}
