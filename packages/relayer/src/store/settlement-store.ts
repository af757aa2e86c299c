/**
 * Rows of settlements: one per employer and Idempotency-Key at a time.
 *
 * @module
 */
import type { Delivery, FundBatchWire, SettlementRecord, SettlementRequest } from '@pool/api';
import {
  computeBatchId,
  fieldToHex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import {
  describeOutcome,
  findSealedNotes,
  insertRow,
  type NewSubmission,
  noOutcome,
  parseSettlement,
  type ReserveGas,
  type SealedNotes,
  type Submission,
  type SubmissionRow,
} from './submissions.ts';

/**
 * The id of the batch in the contract (protocol §3).
 * @throws PoolError `invalid_field_element`; not for a batch that `assertSettlement` has passed
 */
export function batchIdOf({ funder, batchNonce }: FundBatchWire): Hex32 {
  return fieldToHex(computeBatchId(parseEvmAddress(funder), parseField(batchNonce)));
}

/**
 * Refuses a batch that another settlement has. Refusing early saves the check of the batch.
 * @throws PoolError `idempotency_conflict` (409)
 */
export async function assertBatchFree(
  db: PlatformDatabase,
  { chain, batch }: Pick<Delivery, 'chain' | 'batch'>,
): Promise<void> {
  const taken = await db
    .selectFrom('submissions')
    .select('id')
    .where('chain', '=', chain)
    .where('batch_id', '=', batchIdOf(batch))
    .executeTakeFirst();
  if (taken !== undefined) {
    throw idempotencyConflict();
  }
}

/** True when both authorise the same payment: every part that the funder signed is equal. */
export function isSameAuthorisation(
  row: SubmissionRow,
  chain: string,
  batch: FundBatchWire,
): boolean {
  const stored = parseSettlement(row).batch;
  return (
    row.chain === chain &&
    stored.batchNonce === batch.batchNonce &&
    row.root === batch.batchRoot &&
    row.sealed_notes_hash === batch.sealedNotesHash &&
    stored.funder.toLowerCase() === batch.funder.toLowerCase() &&
    row.token === batch.token.toLowerCase() &&
    stored.total === batch.total &&
    Number(row.deadline) === batch.deadline
  );
}

/**
 * A request that repeats an authorisation must have the stored batch and sealed notes, since the funder signed their
 * hashes. Comparing them needs no hashing.
 * @throws PoolError `invalid_settlement` (400)
 */
export async function assertSameNotes(
  db: PlatformDatabase,
  row: SubmissionRow,
  { batch, sealedNotes }: Delivery,
): Promise<void> {
  const stored = await findSealedNotes(db, row.id);
  const { commitments } = parseSettlement(row).batch;
  const isSame =
    commitments.join() === batch.commitments.join() &&
    // The stored notes were lost or erased: there is nothing to compare with.
    (stored.length === 0 || joinSealed(stored) === joinSealed(sealedNotes));
  if (!isSame) {
    throw new PoolError(
      'invalid_settlement',
      'settlement refused: this authorisation is stored with other commitments or other sealed notes',
    );
  }
}

/** True when a settlement is stored with these notes and recipient keys. */
export async function hasSameNotes(
  db: PlatformDatabase,
  row: SubmissionRow,
  { sealedNotes }: Delivery,
): Promise<boolean> {
  const stored = await findSealedNotes(db, row.id);
  const joinKeys = (notes: SealedNotes) =>
    notes.map(({ encryptionPublicKey }) => encryptionPublicKey).join();
  return (
    joinSealed(stored) === joinSealed(sealedNotes) && joinKeys(stored) === joinKeys(sealedNotes)
  );
}

function joinSealed(notes: SealedNotes): string {
  return notes.map(({ sealed }) => sealed).join();
}

/** Whose settlement it is. */
export type Payer = { readonly employerId: string; readonly key: string };

/** A posted settlement as it is stored. */
export function describeNewSettlement(
  payer: Payer,
  request: SettlementRequest,
  nowMs: number,
  reserve: ReserveGas,
): Submission {
  const { sealedNotes, bodyFingerprint, ...call } = request;
  return {
    values: {
      ...createValues(payer, request, call, nowMs),
      body_fingerprint: bodyFingerprint?.value ?? null,
      body_fingerprint_key: bodyFingerprint?.keyId ?? null,
    },
    ...{ commitments: request.batch.commitments, sealedNotes, reserve },
    conflict: idempotencyConflict,
  };
}

/** A new row. @param call - what was posted, without the sealed notes */
function createValues(
  { employerId, key }: Payer,
  { chain, batch }: Pick<Delivery, 'chain' | 'batch'>,
  call: object,
  nowMs: number,
): NewSubmission {
  return {
    ...{ kind: 'settlement', owner: employerId, key, chain, state: 'accepted' },
    batch_id: batchIdOf(batch),
    root: batch.batchRoot,
    sealed_notes_hash: batch.sealedNotesHash,
    token: batch.token.toLowerCase(),
    deadline: batch.deadline,
    request: JSON.stringify(call),
    created_at: new Date(nowMs).toISOString(),
  };
}

/**
 * A row for a batch that is in the index and whose settlement this platform lost. It starts as settled, so nothing is sent.
 * @throws PoolError `idempotency_conflict` (409) when the key or the batch has a row
 */
export async function insertSettled(
  db: PlatformDatabase,
  payer: Payer,
  delivery: Delivery,
  landed: { readonly tx_hash: string; readonly block_number: number },
  nowMs: number,
): Promise<SubmissionRow> {
  const { sealedNotes: _stored, ...call } = delivery;
  const { tx_hash, block_number } = landed;
  const values = createValues(payer, delivery, call, nowMs);
  return await insertRow(
    db,
    { ...values, state: 'settled', tx_hash, block_number },
    idempotencyConflict,
  );
}

/**
 * A row for a batch that its funder withdraws and that was never posted. Nothing but its withdrawal is ever sent.
 * @throws PoolError `idempotency_conflict` (409) when the key or the batch has a row; as `reserve`
 */
export async function insertWithdrawn(
  db: PlatformDatabase,
  payer: Payer,
  withdrawn: Pick<Delivery, 'chain' | 'batch'> & { readonly signature: string },
  nowMs: number,
  reserve: ReserveGas,
): Promise<SubmissionRow> {
  const { signature, chain, batch } = withdrawn;
  const values = createValues(payer, withdrawn, { chain, batch }, nowMs);
  return await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    return await insertRow(
      trx,
      { ...values, void_signature: signature, gas_reserved: gasReserved },
      idempotencyConflict,
    );
  });
}

/** Stores the funder's withdrawal. A reverted row is reopened: its authorisation could still land. */
export async function storeWithdrawal(
  db: PlatformDatabase,
  id: number,
  signature: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const stored = await trx
      .updateTable('submissions')
      .set({ void_signature: signature })
      .where('id', '=', id)
      .where('state', '!=', 'settled')
      .where('void_signature', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (stored === undefined) {
      return;
    }
    await trx
      .updateTable('submissions')
      .set({ state: 'submitted', ...noOutcome })
      .where('id', '=', id)
      .where('state', '=', 'reverted')
      .where('notes_erased_at', 'is', null)
      .execute();
  });
}

/** The row in its wire format, with its sealed notes unless they were erased. */
export async function describeSettlement(
  db: PlatformDatabase,
  row: SubmissionRow,
): Promise<SettlementRecord> {
  return {
    ...describeOutcome(row),
    batch: parseSettlement(row).batch,
    ...(row.body_fingerprint === null || row.body_fingerprint_key === null
      ? {}
      : {
          bodyFingerprint: {
            keyId: parseHex(row.body_fingerprint_key),
            value: parseHex32(row.body_fingerprint),
          },
        }),
    sealedNotes: await findSealedNotes(db, row.id),
  };
}

export function idempotencyConflict(): PoolError {
  return new PoolError(
    'idempotency_conflict',
    "this Idempotency-Key or this funder's batch nonce belongs to another authorisation that may still land",
  );
}
