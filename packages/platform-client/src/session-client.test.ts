/** The session of a page: the browser keeps its cookie, and scripts never see it. */
import { errorCodeOf, parseAccountAddress, Secret } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createSessionClient } from './session-client.ts';

const address = parseAccountAddress(createFakeHolder(1).address);
const other = parseAccountAddress(createFakeHolder(2).address);
const place = { domain: 'platform.example', uri: 'https://platform.example' };
const nowMs = Date.parse('2026-11-28T08:00:00Z');

/** A platform as a browser shows it: no answer has a readable cookie. */
function createBrowser(signedInAs: string) {
  const sent: { readonly call: string; readonly init: RequestInit }[] = [];
  const answers: Readonly<Record<string, object>> = {
    'GET /api/auth/nonce': {
      ...{ nonce: 'n'.repeat(20), expiresAt: '2026-11-28T08:05:00.000Z', chainIds: [8453] },
    },
    'POST /api/auth/verify': {
      ...{ success: true, address: signedInAs, expiresAt: '2026-11-28T20:00:00.000Z' },
    },
    'POST /api/auth/logout': { success: true },
    'GET /api/employers/holder/enrollment': { success: true, readiness: 'not_enrolled' },
  };
  const fetch: Fetch = async (input, init) => {
    const call = `${init.method} ${new URL(input).pathname}`;
    sent.push({ call, init });
    return Response.json(answers[call]);
  };
  return { sent, fetch };
}

const signIn = { address, signMessage: async () => `0x${'5a'.repeat(65)}`, ...place };

describe('a session client of a browser', () => {
  it('leaves the cookie to the browser, in every call', async () => {
    const { sent, fetch } = createBrowser(address);
    const url = 'https://platform.example';
    const session = createSessionClient({ url, fetch, nowMs: () => nowMs, cookie: 'browser' });
    expect(await session.signIn(signIn)).toMatchObject({ address });
    expect((await session.getEnrollment()).readiness).toBe('not_enrolled');
    await session.signOut();
    expect(sent.map(({ call }) => call)).toEqual([
      'GET /api/auth/nonce',
      'POST /api/auth/verify',
      'GET /api/employers/holder/enrollment',
      'POST /api/auth/logout',
    ]);
    for (const { init } of sent) {
      expect(init.credentials).toBe('same-origin');
      expect(new Headers(init.headers).has('cookie')).toBe(false);
    }
  });

  it('ends a session that was opened for another wallet', async () => {
    const { sent, fetch } = createBrowser(other);
    const url = 'https://platform.example';
    const session = createSessionClient({ url, fetch, nowMs: () => nowMs, cookie: 'browser' });
    expect(await session.signIn(signIn).catch(errorCodeOf)).toBe('platform_invalid_response');
    expect(sent.at(-1)?.call).toBe('POST /api/auth/logout');
  });

  it('needs a readable cookie outside of a browser', async () => {
    const { fetch } = createBrowser(address);
    const session = createSessionClient({
      ...{ url: 'https://platform.example', fetch, nowMs: () => nowMs },
    });
    expect(await session.signIn(signIn).catch(errorCodeOf)).toBe('platform_invalid_response');
  });
});

it('sends the code of a link in the body alone', async () => {
  const code = 'pool_invite_EXAMPLE0_secret';
  const seen: string[] = [];
  const session = createSessionClient({
    url: 'https://platform.example',
    fetch: async (input, init) => {
      seen.push(input, JSON.stringify(init.headers), JSON.stringify(init.body));
      return Response.json({ code: 'not_found', message: 'x' }, { status: 404 });
    },
  });
  expect(await session.openInvitation(new Secret(code)).catch(errorCodeOf)).toBe('not_found');
  expect(seen.map((text) => text.includes(code))).toEqual([false, false, true]);
});
