/**
 * Accepts the sealed notes of a settled batch again from its funder (docs/decisions/0009), for a platform whose database
 * was lost or restored from an older backup. The chain decides what is accepted: the batch must be in a final block, and
 * the notes must match the hash in its event. Only the funder, or a party that has them from it, knows all of them.
 *
 * @module
 */

import type { Delivery } from '@pool/api';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { PoolChain } from '../chain/pool-chain.ts';
import { assertDelivery } from '../checks/check-form.ts';
import type { SettlementChecks } from '../checks/settlement-checks.ts';
import { findChain } from '../store/on-chain.ts';
import {
  batchIdOf,
  hasSameNotes,
  idempotencyConflict,
  insertSettled,
  isSameAuthorisation,
} from '../store/settlement-store.ts';
import { findSubmission, insertSealedNotes, type SubmissionRow } from '../store/submissions.ts';

export type RedeliveryDeps = {
  readonly db: PlatformDatabase;
  readonly chains: ReadonlyMap<string, PoolChain>;
  readonly checks: Pick<SettlementChecks, 'assertBatch'>;
  readonly nowMs: () => number;
  /** Reads the index up to the chain's final block. */
  readonly refreshIndex: (chain: string) => Promise<void>;
};

/**
 * Stores the notes and makes them servable. Repeating it changes nothing. The look-up on the chain comes before the check
 * of the batch, which takes longest.
 * @throws PoolError `invalid-chain`, `invalid_settlement` (400), `not_settled`, `idempotency_conflict` (409),
 *   `rate_limited` (429), `verifier_unavailable` (503)
 */
export async function redeliverNotes(
  deps: RedeliveryDeps,
  employerId: string,
  key: string,
  delivery: Delivery,
): Promise<SubmissionRow> {
  const chain = findChain(deps.chains, delivery.chain);
  assertDelivery(delivery, chain.settings);
  await deps.refreshIndex(delivery.chain);
  const { landed, standing } = await findPlace(deps.db, employerId, key, delivery);
  if (
    standing !== undefined &&
    landed.submission_id === standing.id &&
    (await hasSameNotes(deps.db, standing, delivery))
  ) {
    return standing;
  }
  await deps.checks.assertBatch(employerId, delivery, chain.settings);
  return await deps.db.transaction().execute(async (trx) => {
    // Read again: the rows may have changed meanwhile.
    const place = await findPlace(trx, employerId, key, delivery);
    const row =
      place.standing ??
      (await insertSettled(trx, { employerId, key }, delivery, place.landed, deps.nowMs()));
    // The stored notes may be incomplete. These match the hash on the chain.
    await trx.deleteFrom('sealed_notes').where('submission_id', '=', row.id).execute();
    await insertSealedNotes(trx, row.id, {
      commitments: delivery.batch.commitments,
      sealedNotes: delivery.sealedNotes,
    });
    await trx
      .updateTable('submissions')
      .set({ notes_erased_at: null })
      .where('id', '=', row.id)
      .execute();
    await trx
      .updateTable('batches')
      .set({ submission_id: row.id })
      .where('chain', '=', delivery.chain)
      .where('leaf_index', '=', place.landed.leaf_index)
      .execute();
    return row;
  });
}

/** The batch on chain, and the settlement of the key. @throws PoolError `not_settled`, `idempotency_conflict` (409) */
async function findPlace(
  db: PlatformDatabase,
  employerId: string,
  key: string,
  delivery: Delivery,
) {
  const landed = await findLanded(db, delivery);
  const standing = await findSubmission(db, employerId, key);
  if (standing !== undefined && !isSameAuthorisation(standing, delivery.chain, delivery.batch)) {
    throw idempotencyConflict();
  }
  if (landed.submission_id !== null && landed.submission_id !== standing?.id) {
    throw new PoolError(
      'idempotency_conflict',
      'this platform has the batch, under another account or another Idempotency-Key',
    );
  }
  return { landed, standing };
}

async function findLanded(db: PlatformDatabase, { chain, batch }: Delivery) {
  const landed = await db
    .selectFrom('batches')
    .selectAll()
    .where('chain', '=', chain)
    .where('batch_id', '=', batchIdOf(batch))
    .where('batch_root', '=', batch.batchRoot)
    .where('sealed_notes_hash', '=', batch.sealedNotesHash)
    // One delivery of a batch at a time: the second finds the row of the first.
    .forUpdate()
    .executeTakeFirst();
  if (landed === undefined) {
    throw new PoolError(
      'not_settled',
      'the index of this platform has no final block with this batch and these sealed notes; only a settled batch can be delivered again. If the platform is still reading the chain, try again later',
    );
  }
  return landed;
}
