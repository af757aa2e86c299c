/**
 * The key with which this platform tags the credentials it makes. It must live as long as the credentials, so it is in
 * the database beside them: a backup restores both.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { bytesToHex, hexToBytes } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { type CredentialMint, createCredentialMint } from './credential.ts';

const credentialKeyName = 'credential-tag';

/** Reads the key. The first start makes it. */
export async function openCredentialMint(db: PlatformDatabase): Promise<CredentialMint> {
  await db
    .insertInto('platform_keys')
    .values({ name: credentialKeyName, value: bytesToHex(randomBytes(32)) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await db
    .selectFrom('platform_keys')
    .select('value')
    .where('name', '=', credentialKeyName)
    .executeTakeFirstOrThrow();
  return createCredentialMint(hexToBytes(value));
}
