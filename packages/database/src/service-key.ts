/**
 * Keys that a service makes for itself. They live as long as what was made with them, so they are in the database beside it.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { bytesToHex, hexToBytes } from '@pool/core';
import { type Kysely, sql } from 'kysely';

/** Reads a key of 32 bytes. The first process that asks for it makes it. Secret. */
export async function openServiceKey<T>(db: Kysely<T>, name: string): Promise<Uint8Array> {
  await sql`insert into service_keys (name, value) values (${name}, ${bytesToHex(randomBytes(32))})
    on conflict do nothing`.execute(db);
  const { rows } = await sql<{ value: string }>`select value from service_keys
    where name = ${name}`.execute(db);
  return hexToBytes(rows[0]?.value ?? '');
}
