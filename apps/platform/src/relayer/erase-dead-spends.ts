/**
 * Erases the sealed notes of spends that never landed and never can, under the same conditions as those of batches
 * (erase-dead-notes.ts): the row has ended, none of our transactions is open, the deadline passed long ago, and neither the contract
 * nor the index has the outputs.
 *
 * @module
 */
import type { FinalBlock } from '@pool/contracts';
import { computeOldest, type DeadNotes, type EraseDeps, rowsPerPass } from './dead-notes.ts';

export const spendNotes: DeadNotes = { what: 'spend', select: selectCandidates, erase: eraseOne };

async function selectCandidates(
  { db, chain, nowMs, keepSeconds }: EraseDeps,
  indexed: FinalBlock,
  afterId: number,
): Promise<{ readonly id: number }[]> {
  return await db
    .selectFrom('spends as s')
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
            .whereRef('t.spend_id', '=', 's.id')
            .where((eb) =>
              eb.or([
                eb('t.state', '=', 'open'),
                // Landed, and the index has not read it yet.
                eb.and([eb('t.state', '=', 'succeeded'), eb('t.purpose', '=', 'spend')]),
              ]),
            ),
        ),
      ),
    )
    .orderBy('s.id')
    .limit(rowsPerPass)
    .execute();
}

async function eraseOne(
  { db, chain, log, nowMs }: EraseDeps,
  id: number,
  final: FinalBlock,
): Promise<void> {
  const { first_nullifier, out_root } = await db
    .selectFrom('spends')
    .select(['first_nullifier', 'out_root'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if ((await chain.fetchOutRootOf(first_nullifier, final.number)) === out_root) {
    log.warn(
      { spend: id },
      'the contract has a spend that is not settled here: its notes are kept',
    );
    return;
  }
  await db.transaction().execute(async (trx) => {
    // The row may have been retried, or its outputs indexed, during the read of the chain.
    const over = await trx
      .updateTable('spends as s')
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
              .whereRef('b.chain', '=', 's.chain')
              .whereRef('b.batch_root', '=', 's.out_root'),
          ),
        ),
      )
      .returning('s.id')
      .executeTakeFirst();
    if (over === undefined) {
      return;
    }
    const erased = await trx
      .deleteFrom('spend_notes')
      .where('spend_id', '=', id)
      .executeTakeFirst();
    log.info(
      { spend: id, notes: Number(erased.numDeletedRows) },
      'erased the notes of a spend that can never land',
    );
  });
}
