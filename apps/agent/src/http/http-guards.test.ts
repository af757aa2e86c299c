// Which names a request may be addressed to: the Host header is read as a host, and as nothing more.
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { type AgentVariables, checkHost } from './http-guards.ts';

const app = new Hono<AgentVariables>();
app.onError((_error, context) => context.text('refused', 403));
app.use(checkHost(['agent.example', '2001:db8::1', '[2001:db8::2]']));
app.get('/', (context) => context.text('answered'));

async function ask(headers: Record<string, string>): Promise<number> {
  return (await app.request('http://127.0.0.1/', { headers })).status;
}

it.each([
  '127.0.0.1',
  '127.0.0.1:8787',
  'LOCALHOST:1',
  '[::1]',
  '[::1]:8787',
  '[0:0::1]:8787',
  'agent.example',
  'Agent.Example:443',
  '[2001:db8::1]:8787',
  '[2001:db8::2]',
])('takes Host %s', async (host) => {
  expect(await ask({ host })).toBe(200);
});

it.each([
  '',
  'evil.test',
  'agent.example.evil.test',
  '127.0.0.1.evil.test',
  'user@127.0.0.1',
  '127.0.0.1/evil',
  '127.0.0.1?evil',
  '127.0.0.1#evil',
  '127.0.0.1:99999',
  '127.0.0.1:80:80',
  '127.0.0.1, evil.test',
  '::1',
  '[::]',
  '[2001:db8::3]',
  '[::ffff:10.0.0.1]',
  '0.0.0.0',
])('does not take Host "%s"', async (host) => {
  expect(await ask({ host })).toBe(403);
});

it.each([
  ['http://localhost:8787', 200],
  ['https://agent.example', 200],
  ['http://evil.test', 403],
  ['null', 403],
  ['http://localhost.evil.test', 403],
])('meets Origin %s', async (origin, status) => {
  expect(await ask({ host: '127.0.0.1', origin })).toBe(status);
});
