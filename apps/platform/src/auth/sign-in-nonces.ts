/**
 * Nonces of EIP-4361 sign-ins: valid for one attempt and a short time. A custodian's vote may take long, so the
 * lifetime is configurable.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { lockName } from '@pool/database';
import { hashCredential } from '@pool/http-server';

export type SignInNonce = { readonly nonce: string; readonly expiresAt: string };

/** Every caller may request a nonce, so the number of unused ones is bounded. */
export const maxLiveNonces = 10_000;

/** Per address: one caller must not prevent all others from signing in. */
export const maxLiveNoncesPerCaller = 1_000;

/**
 * @param caller - the address of the request; stored hashed, for as long as the nonce lives
 * @throws PoolError `too_many_sign_ins` (503, retryable) while {@link maxLiveNonces} are unused and alive and
 *   no caller has more of them, `rate_limited` (429, retryable) while {@link maxLiveNoncesPerCaller} of the caller's are
 */
export async function createSignInNonce(
  db: PlatformDatabase,
  nowMs: number,
  ttlSeconds: number,
  caller: string,
): Promise<SignInNonce> {
  const callerHash = hashCredential(caller);
  const nonce = randomBytes(16).toString('hex');
  const expiresAt = new Date(nowMs + ttlSeconds * 1000).toISOString();
  await db.transaction().execute(async (trx) => {
    // Two concurrent counts would both see room for the last nonce.
    await lockName(trx, 'sign_in_nonces');
    const now = new Date(nowMs).toISOString();
    await trx.deleteFrom('sign_in_nonces').where('expires_at', '<=', now).execute();
    const { live, own, oldest } = await trx
      .selectFrom('sign_in_nonces')
      .select((eb) => [
        eb.fn.countAll().as('live'),
        eb.fn.countAll().filterWhere('caller', '=', callerHash).as('own'),
        eb.fn.min('expires_at').filterWhere('caller', '=', callerHash).as('oldest'),
      ])
      .executeTakeFirstOrThrow();
    if (Number(own) >= maxLiveNoncesPerCaller) {
      throw tooManyOfCaller(Date.parse(String(oldest)) - nowMs);
    }
    if (Number(live) >= maxLiveNonces && !(await makeRoom(trx, Number(own)))) {
      throw new PoolError('too_many_sign_ins', 'too many sign-ins are under way; try again soon');
    }
    await trx
      .insertInto('sign_in_nonces')
      .values({ nonce, expires_at: expiresAt, caller: callerHash })
      .execute();
  });
  return { nonce, expiresAt };
}

/**
 * The address with the most nonces loses its oldest one, so that ten addresses cannot prevent all others from signing in.
 * @param own - nonces of the requesting address. No address is left with fewer than the requesting one then has
 * @returns whether an address lost a nonce
 */
async function makeRoom(trx: PlatformDatabase, own: number): Promise<boolean> {
  const heaviest = await trx
    .selectFrom('sign_in_nonces')
    .select((eb) => ['caller', eb.fn.countAll().as('held')])
    .where('caller', 'is not', null)
    .groupBy('caller')
    .orderBy('held', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (heaviest === undefined || Number(heaviest.held) - 1 <= own) {
    return false;
  }
  const oldest = trx
    .selectFrom('sign_in_nonces')
    .select('nonce')
    .where('caller', '=', heaviest.caller)
    .orderBy('expires_at')
    .limit(1);
  await trx.deleteFrom('sign_in_nonces').where('nonce', 'in', oldest).execute();
  return true;
}

function tooManyOfCaller(freeInMs: number): PoolError {
  return new PoolError(
    'rate_limited',
    'too many sign-ins from this address were started and not finished; finish one, or try again later',
    { details: { retryAfterSeconds: Math.max(1, Math.ceil(freeInMs / 1000)) } },
  );
}

/** Uses a nonce up. @returns whether this platform issued it, and it was unused and not expired */
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
