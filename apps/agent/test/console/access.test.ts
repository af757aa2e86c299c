// Who may use the console: this machine, with a login that works once, from the console's own pages.
import { expect, it } from 'vitest';
import { openTestConsole, origin } from './console-world.ts';

it('opens one session with one login, under a strict policy', async () => {
  const { pages, send, post } = openTestConsole();
  const path = pages.issueLogin();
  const shown = await send(path);
  const token = path.split('/').at(-1) ?? '';
  expect(await shown.text()).toContain(`name="token" value="${token}"`);
  const opened = await post('/console/login', { token });
  expect(opened.status).toBe(303);
  expect(opened.headers.get('set-cookie')).toMatch(
    /^console=[\w-]{43}; Path=\/console\/[\w-]{43}\/; HttpOnly; SameSite=Strict$/,
  );
  expect(opened.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(opened.headers.get('cache-control')).toBe('no-store');
  expect((await post('/console/login', { token })).status).toBe(401);
});

it('refuses a login after two minutes, and a session after an hour without use', async () => {
  const console = openTestConsole();
  const token = console.pages.issueLogin().split('/').at(-1) ?? '';
  const { get } = await console.login();
  console.clock.monotonicMs += 120_000;
  expect((await console.post('/console/login', { token })).status).toBe(401);
  expect((await get('')).status).toBe(200);
  console.clock.monotonicMs += 59 * 60_000;
  expect((await get('')).status).toBe(200);
  console.clock.monotonicMs += 60 * 60_000;
  expect((await get('')).status).toBe(401);
});

it('ends a session after twelve hours of use, and when it is told to', async () => {
  const console = openTestConsole();
  const { get } = await console.login();
  for (let hour = 0; hour < 13; hour += 1) {
    console.clock.monotonicMs += 55 * 60_000;
    expect((await get('')).status).toBe(200);
  }
  console.clock.monotonicMs += 10 * 60_000;
  expect((await get('')).status).toBe(401);
  const second = await console.login();
  expect((await second.submit('end')).status).toBe(200);
  expect((await second.get('')).status).toBe(401);
});

it('shows no page without the cookie of its session', async () => {
  const { login, send } = openTestConsole();
  const [first, second] = [await login(), await login()];
  for (const cookie of ['', second.cookie, `${first.cookie}x`]) {
    const answer = await send(first.place, { headers: { cookie } });
    expect([answer.status, await answer.text()]).toEqual([
      401,
      expect.stringContaining('there is no such session'),
    ]);
  }
  expect((await send('/console/other/')).status).toBe(401);
});

it('serves its own machine only, by address and by name', async () => {
  const { login, send } = openTestConsole();
  const { place, cookie } = await login();
  const from = (remoteAddress: string, host = '127.0.0.1:8787') =>
    send(place, { headers: { cookie, host } }, { remoteAddress });
  expect((await from('127.0.0.1')).status).toBe(200);
  expect((await from('::ffff:127.0.0.1')).status).toBe(200);
  expect((await from('::1', '[::1]:8787')).status).toBe(200);
  expect((await from('192.0.2.7')).status).toBe(403);
  // The agent serves this name, the console does not.
  expect((await from('127.0.0.1', 'agent.example')).status).toBe(403);
  expect((await send('/console/style.css', {}, { remoteAddress: '192.0.2.7' })).status).toBe(403);
});

it.each([
  ['another origin', { origin: 'http://127.0.0.1:9999' }],
  ['no origin', { origin: '' }],
  ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
])('refuses a form of %s', async (_what, headers) => {
  const { login, post } = openTestConsole();
  const { place, cookie, read, get } = await login();
  const form = /name="form" value="([^"]+)"/.exec(await read(''))?.[1] ?? '';
  expect((await post(`${place}end`, { form }, { cookie, ...headers })).status).toBe(403);
  expect((await post(`${place}end`, { form: `${form}x` }, { cookie })).status).toBe(403);
  expect((await post(`${place}end`, {}, { cookie })).status).toBe(403);
  expect((await get('')).status).toBe(200);
});

it('shows a page of a session to no other page', async () => {
  const { get } = await openTestConsole().login();
  expect((await get('', { 'sec-fetch-site': 'none' })).status).toBe(200);
  expect((await get('', { 'sec-fetch-site': 'same-site' })).status).toBe(403);
  expect((await get('', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
});

it('writes neither a login nor a place of a session into the log', async () => {
  const { login, pages, send, world } = openTestConsole();
  const path = pages.issueLogin();
  await send(path);
  const { place, cookie } = await login();
  await send(place, { headers: { cookie } });
  const log = world.logged.join('\n');
  expect(log).toContain('/console/:place/');
  for (const secret of [path.split('/').at(-1), place.split('/')[2], cookie.split('=')[1]]) {
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(log).not.toContain(secret);
  }
});

it('answers what it does not have as a page', async () => {
  const { login, send } = openTestConsole();
  const { get } = await login();
  const answer = await get('nothing');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    404,
    'text/html; charset=UTF-8',
  ]);
  expect((await send('/console/other.css', { headers: { origin } })).status).toBe(404);
});
