/**
 * `GET /api/auth/nonce`, `POST /api/auth/verify` and `POST /api/auth/logout` (decision 10).
 *
 * @module
 */
import { platformRoutes } from '@pool/api';
import { isLoopbackHost } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CredentialMint } from '../credentials/credential.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import type { ContractWallets } from './contract-wallets.ts';
import { closeSession, openSession, type SessionSettings, sessionCookie } from './sessions.ts';
import { createSignInNonce } from './sign-in-nonces.ts';

export type AuthDeps = {
  readonly db: PlatformDatabase;
  readonly credentials: CredentialMint;
  readonly settings: SessionSettings;
  readonly contracts: (caller: string) => ContractWallets;
  readonly nowMs: () => number;
  readonly limits: RateLimits;
};

export function addAuthRoutes(
  app: Shell,
  { db, credentials, settings, contracts, nowMs, limits }: AuthDeps,
): void {
  // Cookies of a loopback platform travel over plain http; anywhere else they must not.
  const secure = !isLoopbackHost(new URL(settings.uri).hostname);

  app.get('/api/auth/nonce', async (c) => {
    const caller = c.get('callerAddress');
    await limits.address.take(caller);
    const nonce = await createSignInNonce(db, nowMs(), settings.nonceTtlSeconds, caller);
    return c.json({ ...nonce, chainIds: settings.chainIds });
  });

  app.post('/api/auth/verify', async (c) => {
    const caller = c.get('callerAddress');
    await limits.address.take(caller);
    const evidence = await readJson(c, platformRoutes.verifySession.body);
    // A sign-in always opens a new session. The session of an earlier cookie ends.
    const { cookie, session } = await openSession(
      db,
      credentials,
      settings,
      contracts(caller),
      evidence,
      nowMs,
      caller,
    );
    await closeSession(db, getCookie(c, sessionCookie));
    setCookie(c, sessionCookie, cookie.reveal(), {
      path: '/',
      httpOnly: true,
      sameSite: 'Lax',
      secure,
      maxAge: settings.sessionTtlSeconds,
    });
    const { address, walletPub, expiresAt } = session;
    return c.json({
      success: true,
      address,
      ...(walletPub === undefined ? {} : { walletPub }),
      expiresAt,
    });
  });

  // The answer is the same with and without a session: in both cases there is no session afterwards.
  app.post('/api/auth/logout', async (c) => {
    await limits.address.take(c.get('callerAddress'));
    await closeSession(db, getCookie(c, sessionCookie));
    deleteCookie(c, sessionCookie, { path: '/', httpOnly: true, sameSite: 'Lax', secure });
    return c.json({ success: true });
  });
}
