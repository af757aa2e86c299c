/**
 * Nonces of EIP-4361 sign-ins: good for one attempt and a short time. A custodian's policy may vote for
 * long, so the life is configurable.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '../database/platform-tables.ts';

export type SignInNonce = { readonly nonce: string; readonly expiresAt: string };

/** Anybody may ask for a nonce, so the number that waits is bounded. */
export const maxLiveNonces = 10_000;

/** @throws PoolError `too_many_sign_ins` (503, retryable) while {@link maxLiveNonces} are unused and alive */
export async function createSignInNonce(
  db: PlatformDatabase,
  nowMs: number,
  ttlSeconds: number,
): Promise<SignInNonce> {
  const nonce = randomBytes(16).toString('hex');
  const expiresAt = new Date(nowMs + ttlSeconds * 1000).toISOString();
  await db.transaction().execute(async (trx) => {
    const now = new Date(nowMs).toISOString();
    await trx.deleteFrom('sign_in_nonces').where('expires_at', '<=', now).execute();
    const { live } = await trx
      .selectFrom('sign_in_nonces')
      .select((eb) => eb.fn.countAll().as('live'))
      .executeTakeFirstOrThrow();
    if (Number(live) >= maxLiveNonces) {
      throw new PoolError('too_many_sign_ins', 'too many sign-ins are under way; try again soon', {
        status: 503,
        retryable: true,
      });
    }
    await trx.insertInto('sign_in_nonces').values({ nonce, expires_at: expiresAt }).execute();
  });
  return { nonce, expiresAt };
}

/** Takes a nonce out of circulation. @returns whether it was ours, unused and alive */
export async function claimSignInNonce(
  db: PlatformDatabase,
  nonce: string,
  nowMs: number,
): Promise<boolean> {
  const taken = await db
    .deleteFrom('sign_in_nonces')
    .where('nonce', '=', nonce)
    .returning('expires_at')
    .executeTakeFirst();
  return taken !== undefined && Date.parse(taken.expires_at) > nowMs;
}
