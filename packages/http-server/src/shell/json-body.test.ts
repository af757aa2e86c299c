// A body that two readers could understand differently is refused, with a message that repeats no part of it.
import { isPoolError } from '@pool/core';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { readJsonBody } from './json-body.ts';

async function read(
  body: string | Uint8Array<ArrayBuffer>,
  options: { readonly type?: string; readonly pace?: () => Promise<void> } = {},
): Promise<unknown> {
  const app = new Hono();
  let outcome: unknown;
  app.post('/', async (c) => {
    outcome = await readJsonBody(c, options.pace).catch((error: unknown) =>
      isPoolError(error) ? `${error.code} ${error.status}: ${error.message}` : error,
    );
    return c.body(null);
  });
  const headers = { 'content-type': options.type ?? 'application/json' };
  await app.request('/', { method: 'POST', body, headers });
  return outcome;
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

it.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
  ['a key twice', '{"a":1,"a":2}', 'request body has a duplicate JSON key'],
  ['a key and its value twice', '{"a":1,"a":1}', 'request body has a duplicate JSON key'],
  [
    'a key twice, once escaped',
    '{"amount":1,"am\\u006funt":2}',
    'request body has a duplicate JSON key',
  ],
  [
    'a key twice, deep inside',
    '[[{"b":{"a":[],"a":{}}}]]',
    'request body has a duplicate JSON key',
  ],
  ['a prototype twice', '{"__proto__":1,"__proto__":{}}', 'request body has a duplicate JSON key'],
  [
    'bytes that are not UTF-8',
    Uint8Array.from(Buffer.from('"caf\xe9"', 'latin1')),
    'request body is not UTF-8',
  ],
  ['text that is not JSON', '{"a":', 'request body is not JSON'],
  ['nothing', '', 'request body is not JSON'],
  ['two values', '{} {}', 'request body is not JSON'],
  ['nesting above 16', nested(17), 'request body is nested more than 16 deep'],
  [
    'nesting that would overflow a stack',
    nested(100_000),
    'request body is nested more than 16 deep',
  ],
])('refuses %s', async (_what, body, message) => {
  expect(await read(body)).toBe(`invalid_request 400: ${message}`);
});

it.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', ''])(
  'refuses content type "%s"',
  async (type) => {
    expect(await read('{}', { type })).toBe(
      'invalid_request 400: content-type must be application/json',
    );
  },
);

it.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json ;x',
])('accepts content type "%s"', async (type) => {
  expect(await read('{}', { type })).toEqual({});
});

it.each([
  ['colons, quotes and backslashes in strings', '{"a:b":"c\\":\\\\","d":"{[:"}'],
  ['the same key in several objects', '[{"a":1},{"a":{"a":2}}]'],
  ['spaces around colons', '{"a" : 1 , "b"\n:\t2}'],
  ['characters outside ASCII', '{"é":"Café 🙂"}'],
  ['nesting of 16', nested(16)],
  ['a number', '7'],
  ['null', 'null'],
])('reads %s as JSON.parse does', async (_what, body) => {
  expect(await read(body)).toEqual(JSON.parse(body));
});

it.each([
  ['a long text', JSON.stringify('x'.repeat(50_000))],
  ['escapes at even places', ` ${JSON.stringify('\\'.repeat(25_000))}`],
  ['escapes at odd places', JSON.stringify('\\'.repeat(25_000))],
  ['many values', JSON.stringify(Array.from({ length: 30_000 }, () => []))],
])('pauses for other requests while it checks %s', async (_what, body) => {
  let turns = 0;
  const pace = () => {
    turns += 1;
    return Promise.resolve();
  };
  expect(await read(body, { pace })).toEqual(JSON.parse(body));
  expect(turns).toBeGreaterThanOrEqual(12);
});
