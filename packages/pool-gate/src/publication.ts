/**
 * One publication: the wanted list becomes a root, whose signed bytes are stored, sent, and followed until they are final.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import { errorCodeOf, fieldToHex, PoolError } from '@pool/core';
import { type Term, writeAsLeader } from '@pool/database';
import { fetchNonceOutcome, sendAgain } from '@pool/evm-sender';
import { describeFailure, type Log } from '@pool/http-server';
import type { EligibilityTree } from '@pool/notes';
import type { Selectable } from 'kysely';
import type { Lists } from './follow-lists.ts';
import type { GateDatabase, GateTables } from './gate-tables.ts';
import type { Gathering } from './gathering.ts';
import { lockLeaves, releaseLeaves } from './leaves.ts';
import { applyChanges, type Change } from './past-lists.ts';
import type { RegistryChain } from './registry-chain.ts';

export type PublicationDeps = {
  readonly db: GateDatabase;
  readonly chain: RegistryChain;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly pollIntervalMs: number;
  /** How long a publication's first transaction waits to be mined before another one replaces it. */
  readonly replaceAfterMs: number;
  /** Called when no publication of the key in use is open, before one is signed: another key may be used from here on. */
  readonly beforeSigning?: () => void;
  /** Aborted at shutdown: a wait for finality ends then, and continues at the next start. */
  readonly signal: AbortSignal;
};

type Publication = Selectable<GateTables['publications']>;

/** What a publication in progress works with, all of it in one term of this process. */
type Work = PublicationDeps & Pick<Term, 'assertLeader'> & { readonly lists: Lists };

/** Finishes what is open, then publishes what is wanted, and waits until its root is final. */
export async function publishOnce(deps: Work, gathering: Gathering): Promise<void> {
  const { db, chain, lists } = deps;
  const { tree } = lists;
  // Of the leader before.
  await lists.follow();
  const open = await selectOpen(db);
  if (open !== undefined) {
    if (open.sender !== chain.publisherAddress) {
      // Another gate has signed it: perhaps with the key that this one was given since.
      deps.beforeSigning?.();
    }
    await finish(deps, open);
  }
  await releaseUnused(deps);
  await gathering.untilQuiet();
  const changes = await selectChanges(db);
  const root = fieldToHex(computeRootWith(tree, changes));
  const isCurrent = (await chain.fetchCurrentRoot()) === root;
  if (changes.length === 0 && (isCurrent || tree.size === 0)) {
    return;
  }
  deps.beforeSigning?.();
  await finish(deps, await sendPublication(deps, root, changes));
}

/** Signs, stores and sends: the bytes are stored before they are sent, so after a crash the same ones are sent again. */
async function sendPublication(
  deps: Work,
  root: string,
  changes: readonly Change[],
): Promise<Publication> {
  const { chain, log } = deps;
  const now = new Date(deps.nowMs()).toISOString();
  try {
    const signed = await chain.signPublish(root, await chain.fetchNonce());
    const publication = await writeAsLeader(deps, (trx) =>
      trx
        .insertInto('publications')
        .values({
          root,
          changes: JSON.stringify(changes),
          sender: signed.sender,
          nonce: signed.nonce,
          tx_hash: signed.txHash,
          raw_transaction: signed.rawTransaction,
          replaced_hashes: '[]',
          sent_at: now,
          state: 'open',
          created_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
    log.info({ txHash: signed.txHash, changes: changes.length }, 'publishing a root');
    return publication;
  } catch (cause) {
    throw errorCodeOf(cause) === 'database_lock_lost'
      ? cause
      : publicationFailed('could not be signed', cause);
  }
}

/** Waits until a publication is final and applies its changes, or finds that it never will be final. */
async function finish(deps: Work, publication: Publication): Promise<void> {
  const { outcome, txHash } = await waitUntilFinal(deps, publication);
  if (outcome !== 'final') {
    await writeAsLeader(deps, async (trx) => {
      await lockLeaves(trx);
      await trx
        .updateTable('publications')
        .set({ state: outcome, tx_hash: txHash })
        .where('id', '=', publication.id)
        .execute();
      await releaseLeaves(trx);
    });
    throw describeFailed(outcome);
  }
  const changes = JSON.parse(publication.changes) as Change[];
  const now = new Date(deps.nowMs()).toISOString();
  await writeAsLeader(deps, async (trx) => {
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
  await deps.lists.follow();
}

type Outcome = {
  readonly outcome: 'final' | 'reverted' | 'dropped';
  /** Of the transaction that decided. */
  readonly txHash: string;
};

async function waitUntilFinal(deps: Work, { id }: Publication): Promise<Outcome> {
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
      const { nonce, sender, tx_hash: txHash } = sent;
      const reads = {
        fetchNonceAt: (block: number) => chain.fetchNonceAt(block, sender),
        fetchReceipt: chain.fetchReceipt,
      };
      const txHashes = [txHash, ...parseReplaced(sent)];
      const final = await chain.fetchFinalBlock();
      const seen = await fetchNonceOutcome(reads, { nonce, txHashes }, final);
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
      if (errorCodeOf(error) === 'database_lock_lost') {
        throw error;
      }
      log.warn({ ...describeFailure(error) }, 'waiting for a publication');
    }
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Sends the stored bytes again. After a long wait it sends the same root at the same nonce with higher fees, stored first.
 * The replacement has a gas limit within the ceiling, so bytes that every node rejects are replaced too.
 */
async function resend(deps: Work, sent: Publication): Promise<void> {
  const { chain, log, nowMs, replaceAfterMs } = deps;
  const { nonce, raw_transaction: rawTransaction } = sent;
  if (sent.sender !== chain.publisherAddress) {
    // Of an earlier key, which this process does not have: nothing else can be signed for its nonce.
    await chain.broadcast(rawTransaction);
    return;
  }
  const replaced = parseReplaced(sent);
  const signedAtMs = Date.parse(sent.sent_at);
  await sendAgain(
    { nonce, rawTransaction, signedAtMs, count: replaced.length + 1 },
    {
      ...{ nowMs, replaceAfterMs, fetchNonce: chain.fetchNonce, broadcast: chain.broadcast },
      sign: () => chain.signReplacement(rawTransaction),
      async store({ txHash, rawTransaction: raw_transaction }) {
        await writeAsLeader(deps, (trx) =>
          trx
            .updateTable('publications')
            .set({
              tx_hash: txHash,
              raw_transaction,
              replaced_hashes: JSON.stringify([sent.tx_hash, ...replaced]),
              sent_at: new Date(nowMs()).toISOString(),
            })
            .where('id', '=', sent.id)
            .execute(),
        );
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

export async function selectOpen(db: GateDatabase): Promise<Publication | undefined> {
  return await db
    .selectFrom('publications')
    .selectAll()
    .where('state', '=', 'open')
    .orderBy('id')
    .executeTakeFirst();
}

/** The queue: what the published list does not have yet, or still has. */
export async function selectChanges(db: GateDatabase): Promise<Change[]> {
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

/** Frees the leaves of wallets that are neither wanted nor published. Only while no publication is open. */
export async function releaseUnused(work: Pick<Work, 'db' | 'assertLeader'>): Promise<void> {
  await writeAsLeader(work, async (trx) => {
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

export function describeFailed(state: Publication['state']): PoolError {
  return publicationFailed(state === 'reverted' ? 'was reverted' : 'was displaced');
}

export function publicationFailed(what: string, cause?: unknown): PoolError {
  return new PoolError('publication_failed', `the publication of the list ${what}; try again`, {
    cause,
  });
}
