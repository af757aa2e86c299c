/**
 * Erases the sealed notes of batches and spends that never landed and never can. Each note names the encryption key that was to be
 * paid, and it can never be opened. The notes of a batch that landed are all that its payees have, so any doubt keeps
 * them. The notes of one are erased only when all of this holds:
 *
 * - its row has ended: reverted, or superseded by another attempt, with no transaction of ours still open;
 * - the deadline that was signed passed long ago, by the clock of a final block and by this machine's;
 * - the contract at that final block does not have its outputs, and neither does the index, which has read up to there.
 *
 * Each is erased in its own transaction, a few per pass (docs/decisions/0010).
 *
 * @module
 */

import { type PlatformDatabase, type Term, writeAsLeader } from '@pool/database';
import type { FinalBlock } from '@pool/evm-sender';
import { describeFailure, type Log } from '@pool/http-server';
import type { PoolChain } from '../chain/pool-chain.ts';
import { selectCursor } from '../served/served-batches.ts';
import { fetchRoot } from '../store/on-chain.ts';
import { type SubmissionRow, selectSubmission } from '../store/submissions.ts';

export type EraseDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<
    PoolChain,
    'key' | 'fetchFinalBlock' | 'fetchBatchRootOf' | 'fetchOutRootOf'
  >;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long after its deadline the notes of a batch or spend that never landed are kept. */
  readonly keepSeconds: number;
  readonly assertLeader?: Term['assertLeader'];
};

const rowsPerPass = 50;

const names = { settlement: 'batch', spend: 'spend' } as const;

export type Eraser = ReturnType<typeof createEraser>;

export function createEraser(all: EraseDeps) {
  let lastId = 0;
  let awaited: FinalBlock | undefined;

  async function eraseNext(deps: EraseDeps, indexed: FinalBlock, final: FinalBlock): Promise<void> {
    const candidates = await selectCandidates(deps, indexed, lastId);
    // A row that cannot be erased now must not delay the rows behind it: the next pass continues after it.
    lastId = candidates.length < rowsPerPass ? 0 : (candidates.at(-1)?.id ?? 0);
    for (const { id, kind } of candidates) {
      try {
        await eraseOne(deps, await selectSubmission(deps.db, id), final);
      } catch (error) {
        deps.log.warn(
          { [kind]: id, ...describeFailure(error) },
          `the notes of a dead ${kind} are kept for now`,
        );
      }
    }
  }

  return {
    /** Checks the next few rows; after the last one, it starts again with the first. @param term - as of the indexer */
    async pass(term?: Term): Promise<void> {
      const deps = term === undefined ? all : { ...all, assertLeader: term.assertLeader };
      const final = await deps.chain.fetchFinalBlock();
      // On a fast chain the index is always a little behind, so this waits for the final block of the previous pass.
      const indexed = awaited ?? final;
      if (!(await hasIndexed(deps, indexed))) {
        awaited = indexed;
        return;
      }
      awaited = final;
      await eraseNext(deps, indexed, final);
    },
  };
}

async function hasIndexed({ db, chain }: EraseDeps, block: FinalBlock): Promise<boolean> {
  const { halted, block_number = -1 } = await selectCursor(db, chain.key);
  return halted === null && block_number >= block.number;
}

/** The next rows that seem dead. */
async function selectCandidates(
  { db, chain, nowMs, keepSeconds }: EraseDeps,
  indexed: FinalBlock,
  afterId: number,
): Promise<Pick<SubmissionRow, 'id' | 'kind'>[]> {
  // By the clock of a final block and by this machine's.
  const oldest = Math.min(indexed.timestampSeconds, Math.floor(nowMs() / 1_000)) - keepSeconds;
  return await db
    .selectFrom('submissions')
    .select(['id', 'kind'])
    .where('chain', '=', chain.key)
    .where('id', '>', afterId)
    .where('notes_erased_at', 'is', null)
    .where('state', '!=', 'settled')
    .where((eb) => eb.or([eb('state', '=', 'reverted'), eb('superseded_at', 'is not', null)]))
    .where('deadline', '<', oldest)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('relayer_transactions as t')
            .select('t.id')
            .whereRef('t.submission_id', '=', 'submissions.id')
            .where((eb) =>
              eb.or([
                eb('t.state', '=', 'open'),
                // Landed, and the index has not read it yet.
                eb.and([eb('t.state', '=', 'succeeded'), eb('t.purpose', 'in', ['fund', 'spend'])]),
              ]),
            ),
        ),
      ),
    )
    .orderBy('id')
    .limit(rowsPerPass)
    .execute();
}

/** Erases the notes of a row, unless the chain or the index has its outputs. */
async function eraseOne(deps: EraseDeps, row: SubmissionRow, final: FinalBlock): Promise<void> {
  const { chain, log, nowMs } = deps;
  const { id, kind } = row;
  if ((await fetchRoot(chain, row, final.number)) === row.root) {
    log.warn(
      { [kind]: id },
      `the contract has a ${names[kind]} that is not settled here: its notes are kept`,
    );
    return;
  }
  await writeAsLeader(deps, async (trx) => {
    // The row may have been retried, or its outputs indexed, during the read of the chain.
    const over = await trx
      .updateTable('submissions')
      .set({ notes_erased_at: new Date(nowMs()).toISOString() })
      .where('id', '=', id)
      .where('notes_erased_at', 'is', null)
      .where('state', '!=', 'settled')
      .where((eb) => eb.or([eb('state', '=', 'reverted'), eb('superseded_at', 'is not', null)]))
      .where(({ not, exists }) => not(exists(selectIndexed(trx, row))))
      .returning('id')
      .executeTakeFirst();
    if (over === undefined) {
      return;
    }
    const erased = await trx
      .deleteFrom('sealed_notes')
      .where('submission_id', '=', id)
      .executeTakeFirst();
    log.info(
      { [kind]: id, notes: Number(erased.numDeletedRows) },
      `erased the notes of a ${names[kind]} that can never land`,
    );
  });
}

/** The leaves of the index that are, or may be, the outputs of a row. */
function selectIndexed(trx: PlatformDatabase, { id, chain, root, batch_id }: SubmissionRow) {
  return trx
    .selectFrom('batches')
    .select('leaf_index')
    .where('chain', '=', chain)
    .where((eb) =>
      eb.or([
        eb('submission_id', '=', id),
        eb.and([
          eb('batch_root', '=', root),
          ...(batch_id === null ? [] : [eb('batch_id', '=', batch_id)]),
        ]),
      ]),
    );
}
