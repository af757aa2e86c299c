/**
 * Restores the sealed notes of spends that nobody posted here, from the events of the pool, which carry them. Whose they are and of which
 * token is unknown, so they are served to everybody (docs/decisions/0011).
 *
 * @module
 */
import { errorCodeOf, type Hex } from '@pool/core';
import { type PlatformDatabase, type Term, writeAsLeader } from '@pool/database';
import type { Log } from '@pool/http-server';
import { computeSealedNotesHash } from '@pool/notes';
import type { PoolChain } from '../chain/pool-chain.ts';
import { parseWords } from '../served/served-batches.ts';
import { openLeaf } from '../store/spend-store.ts';

export type RestoreDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'fetchPoolLeaves'>;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly assertLeader?: Term['assertLeader'];
};

const leavesPerPass = 20;
/** A node that times out must not hold the pass: new leaves wait behind it. */
const passMs = 10_000;
/** A node that did not have an event, or did not serve it, is asked for it again after this time. */
const retryMs = 3_600_000;

/** One bounded step, so that new leaves do not wait. */
export async function restoreSpendNotes(deps: RestoreDeps): Promise<void> {
  const { db, chain, log, nowMs } = deps;
  const leaves = await db
    .selectFrom('batches')
    .select(['leaf_index', 'tx_hash', 'block_number', 'sealed_notes_hash', 'commitments'])
    .where('chain', '=', chain.key)
    .where('kind', '=', 'spend')
    .where('submission_id', 'is', null)
    .where('open_notes', '=', false)
    .where('commitments', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('notes_sought_at', 'is', null),
        eb('notes_sought_at', '<', new Date(nowMs() - retryMs).toISOString()),
      ]),
    )
    .orderBy('leaf_index')
    .limit(leavesPerPass)
    .execute();
  const startedMs = nowMs();
  for (const leaf of leaves) {
    if (nowMs() - startedMs >= passMs) {
      return;
    }
    const facts = { chain: chain.key, leaf: leaf.leaf_index, txHash: leaf.tx_hash };
    let events: Awaited<ReturnType<PoolChain['fetchPoolLeaves']>>;
    try {
      events = await chain.fetchPoolLeaves(leaf.block_number, leaf.block_number);
    } catch (error) {
      log.warn({ ...facts, code: errorCodeOf(error) }, 'the event of a spend was not read');
      // The leaves behind it are read all the same.
      await markSought(deps, leaf.leaf_index);
      continue;
    }
    const commitments = parseWords(leaf.commitments);
    const event = events.find(({ leafIndex }) => leafIndex === leaf.leaf_index);
    const sealed = event?.kind === 'spend' ? event.sealedNotes : [];
    if (
      sealed.length !== commitments.length ||
      computeSealedNotesHash(sealed) !== leaf.sealed_notes_hash
    ) {
      log.warn(facts, 'the node does not have the event of a spend as it was indexed');
      await markSought(deps, leaf.leaf_index);
      continue;
    }
    await storeNotes(deps, leaf.leaf_index, commitments, sealed);
    log.info({ ...facts, notes: sealed.length }, 'restored the sealed notes of a spend');
  }
}

async function storeNotes(
  deps: RestoreDeps,
  leafIndex: number,
  commitments: readonly string[],
  sealed: readonly Hex[],
): Promise<void> {
  const { chain, nowMs } = deps;
  await writeAsLeader(deps, async (trx) => {
    const open = await trx
      .updateTable('batches')
      .set({ open_notes: true, notes_sought_at: new Date(nowMs()).toISOString() })
      .where('chain', '=', chain.key)
      .where('leaf_index', '=', leafIndex)
      .where('submission_id', 'is', null)
      .where('open_notes', '=', false)
      .returning('leaf_index')
      .executeTakeFirst();
    if (open === undefined) {
      return;
    }
    await openLeaf(trx, { chain: chain.key, leafIndex, token: null });
    await trx
      .insertInto('calldata_notes')
      .values(
        sealed.map((note, slot) => ({
          chain: chain.key,
          leaf_index: leafIndex,
          slot,
          token: null,
          commitment: commitments[slot] ?? '',
          sealed: note,
        })),
      )
      .execute();
  });
}

async function markSought(deps: RestoreDeps, leafIndex: number): Promise<void> {
  const { chain, nowMs } = deps;
  await writeAsLeader(deps, (trx) =>
    trx
      .updateTable('batches')
      .set({ notes_sought_at: new Date(nowMs()).toISOString() })
      .where('chain', '=', chain.key)
      .where('leaf_index', '=', leafIndex)
      .execute(),
  );
}
