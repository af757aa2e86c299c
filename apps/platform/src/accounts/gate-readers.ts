/**
 * The readers of the pool-gate, one per employer (docs/decisions/0010). A secret is derived from the platform's own
 * access to the gate, the reader's id and its generation, so none is stored. The intended state is stored here first
 * and sent to the gate afterwards: if the process dies in between, the next pass sends it again.
 *
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto';
import { PoolError, Secret } from '@pool/core';
import type { PlatformDatabase, PlatformTables } from '@pool/database';
import { hashCredential } from '@pool/http-server';
import type { Selectable } from 'kysely';
import { toIdCharacters } from '../credentials/credential.ts';

export type GateReaderRow = Selectable<PlatformTables['gate_readers']>;

export type GateReaderMetadata = {
  readonly employerId: string;
  readonly clientId: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
};

/** The employer's reader, created on first use. Its id is random, so the gate learns no employer's name from it. */
export async function ensureGateReader(
  db: PlatformDatabase,
  employerId: string,
  nowMs: number,
): Promise<GateReaderRow> {
  await db
    .insertInto('gate_readers')
    .values({
      employer_id: employerId,
      client_id: `reader-${toIdCharacters(randomBytes(16))}`,
      generation: nextGeneration(0, nowMs),
      acknowledged: null,
      revoked_at: null,
      created_at: new Date(nowMs).toISOString(),
    })
    .onConflict((conflict) => conflict.column('employer_id').doNothing())
    .execute();
  return await getGateReader(db, employerId);
}

/** @throws PoolError `not_found` (404) */
async function getGateReader(db: PlatformDatabase, employerId: string): Promise<GateReaderRow> {
  const row = await db
    .selectFrom('gate_readers')
    .selectAll()
    .where('employer_id', '=', employerId)
    .executeTakeFirst();
  if (row === undefined) {
    throw noReader();
  }
  return row;
}

export async function listGateReaders(db: PlatformDatabase): Promise<GateReaderMetadata[]> {
  const rows = await db
    .selectFrom('gate_readers')
    .selectAll()
    .orderBy('created_at')
    .orderBy('employer_id')
    .execute();
  return rows.map((row) => ({
    employerId: row.employer_id,
    clientId: row.client_id,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  }));
}

/** A new secret, for a revoked reader too. @throws PoolError `not_found` (404) */
export async function rotateGateReader(
  db: PlatformDatabase,
  employerId: string,
  nowMs: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('gate_readers')
      .select('generation')
      .where('employer_id', '=', employerId)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) {
      throw noReader();
    }
    await trx
      .updateTable('gate_readers')
      .set({ generation: nextGeneration(Number(row.generation), nowMs), revoked_at: null })
      .where('employer_id', '=', employerId)
      .execute();
  });
}

/** Repeating the call changes nothing. @throws PoolError `not_found` (404) */
export async function revokeGateReader(
  db: PlatformDatabase,
  employerId: string,
  nowMs: number,
): Promise<void> {
  const row = await db
    .updateTable('gate_readers')
    .set((eb) => ({
      revoked_at: eb.fn.coalesce('revoked_at', eb.val(new Date(nowMs).toISOString())),
    }))
    .where('employer_id', '=', employerId)
    .returning('employer_id')
    .executeTakeFirst();
  if (row === undefined) {
    throw noReader();
  }
}

/** Whether the operator has ended the employer's access to the gate. */
export async function isReaderRevoked(db: PlatformDatabase, employerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('gate_readers')
    .select('revoked_at')
    .where('employer_id', '=', employerId)
    .executeTakeFirst();
  return row !== undefined && row.revoked_at !== null;
}

/** @param platformSecret - the secret of the platform's own client at the gate, which may make readers */
export function deriveReaderSecret(platformSecret: Secret, row: GateReaderRow): Secret {
  const mac = createHmac('sha256', platformSecret.reveal());
  mac.update(`pool/gate-reader/v1 ${row.client_id} ${row.generation}`);
  return new Secret(mac.digest('base64url'));
}

/** What the gate must know about a reader. */
export function describeWantedState(platformSecret: Secret, row: GateReaderRow) {
  const secretHash =
    row.revoked_at === null
      ? (hashCredential(deriveReaderSecret(platformSecret, row).reveal()) as `0x${string}`)
      : null;
  return { generation: Number(row.generation), secretHash };
}

/** The stored form of a state that the gate has acknowledged. */
export function nameState(state: ReturnType<typeof describeWantedState>): string {
  return `${state.generation} ${state.secretHash ?? 'revoked'}`;
}

// The time in seconds, so that a platform restored from a backup never uses a lower number than the gate has seen.
function nextGeneration(present: number, nowMs: number): number {
  return Math.max(present + 1, Math.floor(nowMs / 1000));
}

function noReader(): PoolError {
  return new PoolError(
    'not_found',
    'this employer has no reader; it gets one when its agent asks for bootstrap first',
  );
}
