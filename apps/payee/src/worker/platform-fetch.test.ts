import { errorCodeOf } from '@pool/core';
import { afterEach, expect, it, vi } from 'vitest';
import { fetchPlatform } from './platform-fetch.ts';

afterEach(() => vi.unstubAllGlobals());

async function ask(answer: Response): Promise<string> {
  vi.stubGlobal('fetch', async () => answer);
  return await fetchPlatform('https://pool.example/agent-edge/notes', {}).then(
    async (given) => `${given.status} ${await given.text()}`,
    (error: unknown) => errorCodeOf(error) ?? 'unknown',
  );
}

function page(status: number): Response {
  return new Response('<h1>Sorry</h1>', { status, headers: { 'content-type': 'text/html' } });
}

it.each<[string, Response]>([
  ['the error page of a proxy', page(502)],
  ['a page that nobody finds', page(404)],
  ['the start page of another site', page(200)],
  ['a redirect', new Response(null, { status: 302, headers: { location: 'https://x.example' } })],
  ['the error of a gateway without a code', Response.json({ message: 'no' }, { status: 403 })],
  ['an error that says it is JSON', Response.json('', { status: 504 })],
])('takes %s for silence', async (_, answer) => {
  expect(await ask(answer)).toBe('platform_unreachable');
});

it.each([404, 503])('passes an error of the platform on: %s', async (status) => {
  const body = { code: 'maintenance', message: 'later' };
  expect(await ask(Response.json(body, { status }))).toBe(`${status} ${JSON.stringify(body)}`);
});

it('passes an answer on', async () => {
  expect(await ask(Response.json({ notes: [] }))).toBe('200 {"notes":[]}');
});
