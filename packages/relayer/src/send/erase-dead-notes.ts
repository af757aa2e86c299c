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

import type { PlatformDatabase } from '@pool/database';
import type { FinalBlock } from '@pool/evm-sender';
import { describeFailure, type Log } from '@pool/http-server';
import type { PoolChain } from '../chain/pool-chain.ts';
import {
  type Intent,
  type IntentKind,
  intentKinds,
  selectSettlement,
  selectSpend,
} from '../store/intents.ts';

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
};

export type Eraser = {
  /** Checks the next few rows of each kind; after the last one, it starts again with the first. */
  pass(): Promise<void>;
};

const rowsPerPass = 50;

const names = { settlement: 'batch', spend: 'spend' } as const;

export function createEraser(deps: EraseDeps): Eraser {
  const lastIds = new Map<IntentKind, number>();
  let awaited: FinalBlock | undefined;

  async function eraseNext(
    kind: IntentKind,
    indexed: FinalBlock,
    final: FinalBlock,
  ): Promise<void> {
    const candidates = await selectCandidates(deps, kind, indexed, lastIds.get(kind) ?? 0);
    // A row that cannot be erased now must not delay the rows behind it: the next pass continues after it.
    const isEnd = candidates.length < rowsPerPass;
    lastIds.set(kind, isEnd ? 0 : (candidates.at(-1)?.id ?? 0));
    for (const { id } of candidates) {
      try {
        await eraseOne(deps, { kind, id }, final);
      } catch (error) {
        deps.log.warn(
          { [kind]: id, ...describeFailure(error) },
          `the notes of a dead ${kind} are kept for now`,
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
      for (const kind of ['settlement', 'spend'] as const) {
        await eraseNext(kind, indexed, final);
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

/** The next rows of a kind that seem dead. */
async function selectCandidates(
  { db, chain, nowMs, keepSeconds }: EraseDeps,
  kind: IntentKind,
  indexed: FinalBlock,
  afterId: number,
): Promise<{ readonly id: number }[]> {
  const { table, column, purpose } = intentKinds[kind];
  // By the clock of a final block and by this machine's.
  const oldest = Math.min(indexed.timestampSeconds, Math.floor(nowMs() / 1_000)) - keepSeconds;
  return await db
    .selectFrom(table)
    .select('id')
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
            .whereRef(`t.${column}`, '=', `${table}.id`)
            .where((eb) =>
              eb.or([
                eb('t.state', '=', 'open'),
                // Landed, and the index has not read it yet.
                eb.and([eb('t.state', '=', 'succeeded'), eb('t.purpose', '=', purpose)]),
              ]),
            ),
        ),
      ),
    )
    .orderBy('id')
    .limit(rowsPerPass)
    .execute();
}

/** Erases the notes of a row, unless the chain or the index has it. */
async function eraseOne(deps: EraseDeps, intent: Intent, final: FinalBlock): Promise<void> {
  const { db, log, nowMs } = deps;
  const { kind, id } = intent;
  if (await hasLanded(deps, intent, final)) {
    log.warn(
      { [kind]: id },
      `the contract has a ${names[kind]} that is not settled here: its notes are kept`,
    );
    return;
  }
  await db.transaction().execute(async (trx) => {
    // The row may have been retried, or its outputs indexed, during the read of the chain.
    const over = await trx
      .updateTable(intentKinds[kind].table)
      .set({ notes_erased_at: new Date(nowMs()).toISOString() })
      .where('id', '=', id)
      .where('notes_erased_at', 'is', null)
      .where('state', '!=', 'settled')
      .where((eb) => eb.or([eb('state', '=', 'reverted'), eb('superseded_at', 'is not', null)]))
      .where(({ not, exists }) => not(exists(selectIndexed(trx, intent))))
      .returning('id')
      .executeTakeFirst();
    if (over === undefined) {
      return;
    }
    const erased =
      kind === 'settlement'
        ? await trx.deleteFrom('sealed_notes').where('settlement_id', '=', id).executeTakeFirst()
        : await trx.deleteFrom('spend_notes').where('spend_id', '=', id).executeTakeFirst();
    log.info(
      { [kind]: id, notes: Number(erased.numDeletedRows) },
      `erased the notes of a ${names[kind]} that can never land`,
    );
  });
}

/** Whether the contract has exactly these outputs. */
async function hasLanded(
  { db, chain }: EraseDeps,
  { kind, id }: Intent,
  final: FinalBlock,
): Promise<boolean> {
  if (kind === 'settlement') {
    const { funder, batch_nonce, batch_root } = await selectSettlement(db, id);
    return (await chain.fetchBatchRootOf(funder, batch_nonce, final.number)) === batch_root;
  }
  const { first_nullifier, out_root } = await selectSpend(db, id);
  return (await chain.fetchOutRootOf(first_nullifier, final.number)) === out_root;
}

/** The leaves of the index that are, or may be, the outputs of a row. */
function selectIndexed(trx: PlatformDatabase, { kind, id }: Intent) {
  return kind === 'settlement'
    ? trx
        .selectFrom('batches as b')
        .innerJoin('settlements as of', 'of.chain', 'b.chain')
        .select('b.leaf_index')
        .where('of.id', '=', id)
        .where((eb) =>
          eb.or([
            eb('b.settlement_id', '=', id),
            eb.and([
              eb('b.batch_id', '=', eb.ref('of.batch_id')),
              eb('b.batch_root', '=', eb.ref('of.batch_root')),
            ]),
          ]),
        )
    : trx
        .selectFrom('batches as b')
        .innerJoin('spends as of', 'of.chain', 'b.chain')
        .select('b.leaf_index')
        .where('of.id', '=', id)
        .whereRef('b.batch_root', '=', 'of.out_root');
}
