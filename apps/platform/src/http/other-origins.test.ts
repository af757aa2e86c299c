// Calls by pages of other origins ("Network" in SECURITY.md): no route answers them, changes anything for them, or lets them read.
import { edgeRoutes, platformRoutes } from '@pool/api';
import { testEvidenceDomain } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

const routes = Object.values({ ...platformRoutes, ...edgeRoutes }).map(
  ({ method, path }) => [method, path.replace(/\{[A-Za-z]+\}/g, '1')] as const,
);

describe('a page of another origin', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  /** Status, code, and the headers with which a browser would let the page read, or keep a cookie. */
  async function ask(method: string, path: string, headers: Record<string, string>) {
    const { app } = createTestPlatform(database);
    const answer = await app.request(path, { method, headers });
    const text = await answer.text();
    return {
      status: answer.status,
      code: text === '' ? undefined : (JSON.parse(text) as { readonly code?: string }).code,
      headers: [...answer.headers.keys()].filter(
        (name) => name.startsWith('access-control-') || name === 'set-cookie',
      ),
    };
  }
  const refused = { status: 403, code: 'forbidden_origin', headers: [] };

  it.each(routes)('is refused: %s %s', async (method, path) => {
    for (const origin of ['https://evil.example', 'null']) {
      expect(await ask(method, path, { origin, cookie: 'sessionId=1' })).toEqual(refused);
    }
  });

  it('gets no leave from the question before a call', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    };
    expect(await ask('OPTIONS', '/agent-edge/notes', headers)).toEqual(refused);
    expect(await ask('OPTIONS', '/api/auth/verify', headers)).toEqual(refused);
  });

  it('is answered if it is the platform’s own, and is told of no other', async () => {
    const { origin } = new URL(testEvidenceDomain.uri);
    expect(await ask('GET', '/api/auth/nonce', { origin })).toMatchObject({
      ...{ status: 200, headers: [] },
    });
  });
});
