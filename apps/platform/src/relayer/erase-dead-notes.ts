/**
 * Erases the sealed notes of batches and spends that never landed and never can. Each note names the encryption key that was to be
 * paid, and it can never be opened. The notes of a batch that landed are all that its payees have, so any doubt keeps
 * them. The notes of a settlement are erased only when all of this holds:
 *
 * - its row has ended: reverted, or superseded by another attempt, with no transaction of ours still open;
 * - the deadline that its funder signed passed long ago, by the clock of a final block and by this machine's;
 * - the contract at that final block does not have the batch, and neither does the index, which has read up to there.
 *
 * Each settlement is erased in its own transaction, a few per pass (docs/decisions/0010). Spends: erase-dead-spends.ts.
 *
 * @module
 */
import type { FinalBlock } from '@pool/contracts';
import { describeFailure } from '../log.ts';
import { computeOldest, type DeadNotes, type EraseDeps, rowsPerPass } from './dead-notes.ts';

export type { EraseDeps } from './dead-notes.ts';

import { spendNotes } from './erase-dead-spends.ts';
import { selectSettlement } from './settlement-intents.ts';

export type Eraser = {
  /** Checks the next few settlements; after the last one, it starts again with the first. */
  pass(): Promise<void>;
};

export function createEraser(deps: EraseDeps): Eraser {
  const lastIds = new Map<DeadNotes['what'], number>();
  let awaited: FinalBlock | undefined;

  async function eraseNext(kind: DeadNotes, indexed: FinalBlock, final: FinalBlock): Promise<void> {
    const candidates = await kind.select(deps, indexed, lastIds.get(kind.what) ?? 0);
    // A row that cannot be erased now must not delay the rows behind it: the next pass continues after it.
    const isEnd = candidates.length < rowsPerPass;
    lastIds.set(kind.what, isEnd ? 0 : (candidates.at(-1)?.id ?? 0));
    for (const candidate of candidates) {
      try {
        await kind.erase(deps, candidate.id, final);
      } catch (error) {
        deps.log.warn(
          { [kind.what]: candidate.id, ...describeFailure(error) },
          `the notes of a dead ${kind.what} are kept for now`,
        );
      }
    }
  }

  return {
    async pass() {
      const final = await deps.chain.fetchFinalBlock();
      // On a fast chain the index is always a little behind, so this waits for the final block of the previous pass.
      const indexed = awaited ?? final;
      if (!(await hasIndexed(deps, indexed))) {
        awaited = indexed;
        return;
      }
      awaited = final;
      for (const kind of [settlementNotes, spendNotes]) {
        await eraseNext(kind, indexed, final);
      }
    },
  };
}

const settlementNotes: DeadNotes = {
  what: 'settlement',
  select: selectCandidates,
  erase: eraseOne,
};

async function hasIndexed({ db, chain }: EraseDeps, block: FinalBlock): Promise<boolean> {
  const cursor = await db
    .selectFrom('indexer_cursors')
    .select(['block_number', 'halted'])
    .where('chain', '=', chain.key)
    .executeTakeFirst();
  return cursor !== undefined && cursor.halted === null && cursor.block_number >= block.number;
}

async function selectCandidates(
  { db, chain, nowMs, keepSeconds }: EraseDeps,
  indexed: FinalBlock,
  afterId: number,
): Promise<{ readonly id: number }[]> {
  return await db
    .selectFrom('settlements as s')
    .select('s.id')
    .where('s.chain', '=', chain.key)
    .where('s.id', '>', afterId)
    .where('s.notes_erased_at', 'is', null)
    .where('s.state', '!=', 'settled')
    .where((eb) => eb.or([eb('s.state', '=', 'reverted'), eb('s.superseded_at', 'is not', null)]))
    .where('s.deadline', '<', computeOldest(indexed, nowMs(), keepSeconds))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('relayer_transactions as t')
            .select('t.id')
            .whereRef('t.settlement_id', '=', 's.id')
            .where((eb) =>
              eb.or([
                eb('t.state', '=', 'open'),
                // Landed, and the index has not read it yet.
                eb.and([eb('t.state', '=', 'succeeded'), eb('t.purpose', '=', 'fund')]),
              ]),
            ),
        ),
      ),
    )
    .orderBy('s.id')
    .limit(rowsPerPass)
    .execute();
}

async function eraseOne(deps: EraseDeps, id: number, final: FinalBlock): Promise<void> {
  const { db, chain, log, nowMs } = deps;
  const { funder, batch_nonce, batch_root } = await selectSettlement(db, id);
  const usedFor = await chain.fetchBatchRootOf(funder, batch_nonce, final.number);
  if (usedFor === batch_root) {
    log.warn(
      { settlement: id },
      'the contract has a batch that is not settled here: its notes are kept',
    );
    return;
  }
  await db.transaction().execute(async (trx) => {
    // The row may have been retried, or its batch indexed, during the read of the chain.
    const over = await trx
      .updateTable('settlements as s')
      .set({ notes_erased_at: new Date(nowMs()).toISOString() })
      .where('s.id', '=', id)
      .where('s.notes_erased_at', 'is', null)
      .where('s.state', '!=', 'settled')
      .where((eb) => eb.or([eb('s.state', '=', 'reverted'), eb('s.superseded_at', 'is not', null)]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('batches as b')
              .select('b.leaf_index')
              .where((eb) =>
                eb.or([
                  eb('b.settlement_id', '=', eb.ref('s.id')),
                  eb.and([
                    eb('b.chain', '=', eb.ref('s.chain')),
                    eb('b.batch_id', '=', eb.ref('s.batch_id')),
                    eb('b.batch_root', '=', eb.ref('s.batch_root')),
                  ]),
                ]),
              ),
          ),
        ),
      )
      .returning('s.id')
      .executeTakeFirst();
    if (over === undefined) {
      return;
    }
    const erased = await trx
      .deleteFrom('sealed_notes')
      .where('settlement_id', '=', id)
      .executeTakeFirst();
    log.info(
      { settlement: id, notes: Number(erased.numDeletedRows) },
      'erased the notes of a batch that can never land',
    );
  });
}
