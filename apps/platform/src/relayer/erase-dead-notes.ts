/**
 * Erases the sealed notes of batches that never landed and never can. Each note names the encryption key that was to be
 * paid, and it can never be opened. The notes of a batch that landed are all that its payees have, so any doubt keeps
 * them. The notes of a settlement are erased only when all of this holds:
 *
 * - its row has ended: reverted, or superseded by another attempt, with no transaction of ours still open;
 * - the deadline that its funder signed passed long ago, by the clock of a final block and by this machine's;
 * - the contract at that final block does not have the batch, and neither does the index, which has read up to there.
 *
 * Each settlement is erased in its own transaction, a few per pass (docs/decisions/0032).
 *
 * @module
 */
import type { FinalBlock } from '@pool/contracts';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { describeFailure, type Log } from '../log.ts';

export type EraseDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'fetchFinalBlock' | 'fetchBatchRootOf'>;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long after its deadline the notes of a batch that never landed are kept. */
  readonly keepSeconds: number;
};

export type Eraser = {
  /** Checks the next few settlements; after the last one, it starts again with the first. */
  pass(): Promise<void>;
};

const rowsPerPass = 50;

type Candidate = {
  readonly id: number;
  readonly funder: string;
  readonly batch_nonce: string;
  readonly batch_root: string;
};

export function createEraser(deps: EraseDeps): Eraser {
  let lastId = 0;
  let awaited: FinalBlock | undefined;
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
      const candidates = await selectCandidates(deps, indexed, lastId);
      // A row that cannot be erased now must not delay the rows behind it: the next pass continues after it.
      lastId = candidates.length < rowsPerPass ? 0 : (candidates.at(-1)?.id ?? 0);
      for (const candidate of candidates) {
        try {
          await eraseOne(deps, candidate, final);
        } catch (error) {
          deps.log.warn(
            { settlement: candidate.id, ...describeFailure(error) },
            'the notes of a dead batch are kept for now',
          );
        }
      }
    },
  };
}

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
): Promise<Candidate[]> {
  const presentSeconds = Math.min(indexed.timestampSeconds, Math.floor(nowMs() / 1000));
  return await db
    .selectFrom('settlements as s')
    .select(['s.id', 's.funder', 's.batch_nonce', 's.batch_root'])
    .where('s.chain', '=', chain.key)
    .where('s.id', '>', afterId)
    .where('s.notes_erased_at', 'is', null)
    .where('s.state', '!=', 'settled')
    .where((eb) => eb.or([eb('s.state', '=', 'reverted'), eb('s.superseded_at', 'is not', null)]))
    .where('s.deadline', '<', presentSeconds - keepSeconds)
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

async function eraseOne(deps: EraseDeps, candidate: Candidate, final: FinalBlock): Promise<void> {
  const { db, chain, log, nowMs } = deps;
  const { id, funder, batch_nonce, batch_root } = candidate;
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
