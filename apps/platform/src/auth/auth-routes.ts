/**
 * `GET /api/auth/nonce` and `POST /api/auth/verify` (decision 8).
 *
 * @module
 */
import { verifySessionRequestSchema } from '@pool/core';
import { isLoopbackHost } from '@pool/platform-client';
import { setCookie } from 'hono/cookie';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { Shell } from '../http/app-shell.ts';
import { readJson } from '../http/read-request.ts';
import { openSession, type SessionSettings } from './sessions.ts';
import { createSignInNonce } from './sign-in-nonces.ts';

export type AuthDeps = {
  readonly db: PlatformDatabase;
  readonly settings: SessionSettings;
  readonly nowMs: () => number;
};

export function addAuthRoutes(app: Shell, { db, settings, nowMs }: AuthDeps): void {
  // Cookies of a loopback platform travel over plain http; anywhere else they must not.
  const secure = !isLoopbackHost(new URL(settings.uri).hostname);

  app.get('/api/auth/nonce', async (c) =>
    c.json(await createSignInNonce(db, nowMs(), settings.nonceTtlSeconds)),
  );

  app.post('/api/auth/verify', async (c) => {
    const evidence = await readJson(c, verifySessionRequestSchema);
    const { cookie, session } = await openSession(db, settings, evidence, nowMs());
    setCookie(c, 'sessionId', cookie.reveal(), {
      path: '/',
      httpOnly: true,
      sameSite: 'Lax',
      secure,
      maxAge: settings.sessionTtlSeconds,
    });
    const { address, walletPub, expiresAt } = session;
    return c.json({ success: true, address, walletPub, expiresAt });
  });
}
