/**
 * Settlement rows: one per employer and Idempotency-Key at a time. The row and its sealed notes are written in one
 * transaction before anything is sent, so no batch can land whose notes are lost (docs/decisions/0007).
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import type { Delivery, FundBatchWire, SettlementRecord, SettlementRequest } from '@pool/api';
import {
  computeBatchId,
  fieldToHex,
  type Hex32,
  PoolError,
  parseEncryptionPublicKey,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
} from '@pool/core';
import type { PlatformDatabase, SettlementTable } from '@pool/database';
import type { Insertable } from 'kysely';
import type { FundCall, PoolCall } from '../chain/pool-chain.ts';
import {
  describeOutcome,
  noOutcome,
  type ReserveGas,
  type SettlementRow,
  supersede,
} from './intents.ts';

/** The stored request: everything but the sealed notes, which have a table of their own. */
export function parseStoredCall(row: SettlementRow): FundCall {
  return JSON.parse(row.request) as FundCall;
}

/** The call that withdraws the batch; undefined while its funder has not signed one. */
export function describeWithdrawal(row: SettlementRow): PoolCall | undefined {
  const { funder, batch_nonce, void_signature: signature } = row;
  return signature === null
    ? undefined
    : { kind: 'void', call: { funder, batchNonce: parseHex32(batch_nonce), signature } };
}

/** The current row of a key. */
export async function findSettlement(
  db: PlatformDatabase,
  employerId: string,
  key: string,
): Promise<SettlementRow | undefined> {
  return await db
    .selectFrom('settlements')
    .selectAll()
    .where('employer_id', '=', employerId)
    .where('key', '=', key)
    .where('superseded_at', 'is', null)
    .executeTakeFirst();
}

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
    .selectFrom('settlements')
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
  row: SettlementRow,
  chain: string,
  batch: FundBatchWire,
): boolean {
  return (
    row.chain === chain &&
    row.batch_nonce === batch.batchNonce &&
    row.batch_root === batch.batchRoot &&
    row.sealed_notes_hash === batch.sealedNotesHash &&
    row.funder === batch.funder.toLowerCase() &&
    row.token === batch.token.toLowerCase() &&
    row.total === batch.total &&
    Number(row.deadline) === batch.deadline
  );
}

/** The sealed notes of a settlement, in slot order. */
async function findSealedNotes(
  db: PlatformDatabase,
  settlementId: number,
): Promise<Delivery['sealedNotes']> {
  const notes = await db
    .selectFrom('sealed_notes')
    .select(['encryption_public_key', 'sealed'])
    .where('settlement_id', '=', settlementId)
    .orderBy('slot')
    .execute();
  return notes.map((note) => ({
    encryptionPublicKey: parseEncryptionPublicKey(note.encryption_public_key),
    sealed: parseHex(note.sealed),
  }));
}

/**
 * A request that repeats an authorisation must have the stored batch and sealed notes, since the funder signed their
 * hashes. Comparing them needs no hashing.
 * @throws PoolError `invalid_settlement` (400)
 */
export async function assertSameNotes(
  db: PlatformDatabase,
  row: SettlementRow,
  { batch, sealedNotes }: Delivery,
): Promise<void> {
  const stored = await findSealedNotes(db, row.id);
  const { commitments } = parseStoredCall(row).batch;
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
  row: SettlementRow,
  { sealedNotes }: Delivery,
): Promise<boolean> {
  const stored = await findSealedNotes(db, row.id);
  const joinKeys = (notes: Delivery['sealedNotes']) =>
    notes.map(({ encryptionPublicKey }) => encryptionPublicKey).join();
  return (
    joinSealed(stored) === joinSealed(sealedNotes) && joinKeys(stored) === joinKeys(sealedNotes)
  );
}

function joinSealed(notes: Delivery['sealedNotes']): string {
  return notes.map(({ sealed }) => sealed).join();
}

/**
 * Stores a new attempt with its sealed notes. `supersedes` names the dead row that holds the key.
 * @throws PoolError `idempotency_conflict` (409) when the key or the batch was taken meanwhile; as `reserve`
 */
export async function insertSettlement(
  db: PlatformDatabase,
  employerId: string,
  key: string,
  request: SettlementRequest,
  nowMs: number,
  reserve: ReserveGas,
  supersedes?: number,
): Promise<SettlementRow> {
  const { sealedNotes: _stored, bodyFingerprint, ...call } = request;
  const values = {
    ...createValues(employerId, key, request, JSON.stringify(call), nowMs),
    body_fingerprint: bodyFingerprint?.value ?? null,
    body_fingerprint_key: bodyFingerprint?.keyId ?? null,
  };
  return await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    if (supersedes !== undefined) {
      await supersede(trx, { kind: 'settlement', id: supersedes }, values.created_at);
    }
    const row = await insertRow(trx, { ...values, gas_reserved: gasReserved });
    await insertSealedNotes(trx, row.id, request);
    return row;
  });
}

/** @throws PoolError `idempotency_conflict` (409) when the key or the batch has a row */
async function insertRow(
  db: PlatformDatabase,
  values: Insertable<SettlementTable>,
): Promise<SettlementRow> {
  const row = await db
    .insertInto('settlements')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) {
    throw idempotencyConflict();
  }
  return row;
}

/** A new row. @param request - JSON of what was posted, without the sealed notes */
function createValues(
  employerId: string,
  key: string,
  { chain, batch }: Pick<Delivery, 'chain' | 'batch'>,
  request: string,
  nowMs: number,
): Insertable<SettlementTable> {
  return {
    employer_id: employerId,
    key,
    chain,
    batch_nonce: batch.batchNonce,
    batch_id: batchIdOf(batch),
    batch_root: batch.batchRoot,
    sealed_notes_hash: batch.sealedNotesHash,
    funder: batch.funder.toLowerCase(),
    token: batch.token.toLowerCase(),
    total: batch.total,
    deadline: batch.deadline,
    request,
    state: 'accepted',
    ...noOutcome,
    // A delivery of notes has none, and which request was paid is then unknown.
    body_fingerprint: null,
    body_fingerprint_key: null,
    superseded_at: null,
    created_at: new Date(nowMs).toISOString(),
  };
}

/** Notes per statement. The embedded database works in the serving thread, so other requests run in between. */
const notesAtOnce = 64;

/** The batch's sealed notes with their commitments. Fails when the settlement has notes. */
export async function insertSealedNotes(
  db: PlatformDatabase,
  settlementId: number,
  { batch, sealedNotes }: Delivery,
): Promise<void> {
  const rows = sealedNotes.map(({ encryptionPublicKey, sealed }, slot) => ({
    settlement_id: settlementId,
    slot,
    commitment: batch.commitments[slot] ?? '',
    encryption_public_key: encryptionPublicKey,
    sealed,
  }));
  for (let start = 0; start < rows.length; start += notesAtOnce) {
    await setImmediate();
    await db
      .insertInto('sealed_notes')
      .values(rows.slice(start, start + notesAtOnce))
      .execute();
  }
}

/**
 * A row for a batch that is in the index and whose settlement this platform lost. It starts as settled, so nothing is sent.
 * @throws PoolError `idempotency_conflict` (409) when the key or the batch has a row
 */
export async function insertSettled(
  db: PlatformDatabase,
  employerId: string,
  key: string,
  delivery: Delivery,
  landed: { readonly tx_hash: string; readonly block_number: number },
  nowMs: number,
): Promise<SettlementRow> {
  const { sealedNotes: _stored, ...call } = delivery;
  return await insertRow(db, {
    ...createValues(employerId, key, delivery, JSON.stringify(call), nowMs),
    state: 'settled',
    tx_hash: landed.tx_hash,
    block_number: landed.block_number,
  });
}

/**
 * A row for a batch that its funder withdraws and that was never posted. Nothing but its withdrawal is ever sent.
 * @throws PoolError `idempotency_conflict` (409) when the key or the batch has a row; as `reserve`
 */
export async function insertWithdrawn(
  db: PlatformDatabase,
  employerId: string,
  key: string,
  withdrawn: Pick<Delivery, 'chain' | 'batch'> & { readonly signature: string },
  nowMs: number,
  reserve: ReserveGas,
): Promise<SettlementRow> {
  const { signature, chain, batch } = withdrawn;
  const values = createValues(employerId, key, withdrawn, JSON.stringify({ chain, batch }), nowMs);
  return await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    return await insertRow(trx, {
      ...values,
      void_signature: signature,
      gas_reserved: gasReserved,
    });
  });
}

/**
 * Retries a reverted row with a fresh proof, root, digest or permit of the same authorisation. Missing sealed notes are
 * stored again: no batch may land without them.
 * @throws PoolError as `reserve`
 */
export async function reopenSettlement(
  db: PlatformDatabase,
  id: number,
  request: SettlementRequest,
  reserve: ReserveGas,
): Promise<void> {
  const { sealedNotes: _stored, bodyFingerprint: _kept, ...call } = request;
  await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    const reopened = await trx
      .updateTable('settlements')
      .set({
        state: 'accepted',
        request: JSON.stringify(call),
        notes_erased_at: null,
        ...noOutcome,
        gas_reserved: gasReserved,
      })
      .where('id', '=', id)
      .where('state', '=', 'reverted')
      .where('void_signature', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (reopened !== undefined && (await findSealedNotes(trx, id)).length === 0) {
      await insertSealedNotes(trx, id, request);
    }
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
      .updateTable('settlements')
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
      .updateTable('settlements')
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
  row: SettlementRow,
): Promise<SettlementRecord> {
  return {
    key: row.key,
    state: row.state,
    chain: row.chain,
    batch: parseStoredCall(row).batch,
    ...(row.body_fingerprint === null || row.body_fingerprint_key === null
      ? {}
      : {
          bodyFingerprint: {
            keyId: parseHex(row.body_fingerprint_key),
            value: parseHex32(row.body_fingerprint),
          },
        }),
    sealedNotes: await findSealedNotes(db, row.id),
    ...describeOutcome(row),
  };
}

export function idempotencyConflict(): PoolError {
  return new PoolError(
    'idempotency_conflict',
    "this Idempotency-Key or this funder's batch nonce belongs to another authorisation that may still land",
  );
}
