// Requests that two readers could understand differently.
import { expect, it } from 'vitest';
import { findRefusal, readTarget } from './http-refusal.ts';

function refusalOf(host: string | undefined, ...rawHeaders: string[]) {
  return findRefusal({ rawHeaders, headers: host === undefined ? {} : { host }, url: '/' }, 3)
    ?.status;
}

it.each(['127.0.0.1', 'agent.example:443', '[::1]:8787', 'a_b.example'])(
  'reads %s as a host',
  (host) => {
    expect(refusalOf(host)).toBeUndefined();
  },
);

it.each([
  undefined,
  '',
  'a b',
  'a@b',
  'a/b',
  'a?b',
  'a#b',
  'a\\b',
  'a:b',
  'a:',
  'a:123456',
  '::1',
  '[::1',
  'a,b',
])('does not read %s as a host', (host) => {
  expect(refusalOf(host)).toBe(400);
});

it('refuses a second header about the caller or the body, and accepts repeated other headers', () => {
  expect(refusalOf('a', 'Accept', 'x', 'accept', 'y')).toBeUndefined();
  expect(refusalOf('a', 'Authorization', 'x', 'aUthorization', 'x')).toBe(400);
  expect(refusalOf('a', 'Idempotency-Key', 'x', 'a', 'b', 'idempotency-key', 'y')).toBe(400);
  expect(refusalOf('a', ...Array.from({ length: 8 }, () => 'x'))).toBe(431);
});

function bodyRefusalOf(headers: Readonly<Record<string, string>>) {
  return findRefusal({ rawHeaders: [], headers: { host: 'a', ...headers }, url: '/' }, 3);
}

it.each([
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json; charset=utf-8' },
  { 'content-type': 'application/json;charset="UTF-8"' },
  { 'content-type': 'application/json; charset=utf8; q=1' },
  { 'content-encoding': 'identity' },
])('reads a body of %o', (headers) => {
  expect(bodyRefusalOf(headers)).toBeUndefined();
});

it.each([
  [{ 'content-encoding': 'gzip' }, 'Content-Encoding'],
  [{ 'content-encoding': 'identity, br' }, 'Content-Encoding'],
  [{ 'content-type': 'application/json; charset=utf-16' }, 'UTF-8'],
  [{ 'content-type': 'application/json;charset="iso-8859-1"' }, 'UTF-8'],
  [{ 'content-type': 'application/json; charset=utf-8; charset=latin1' }, 'UTF-8'],
  [{ 'content-type': 'application/json; charset=' }, 'UTF-8'],
])('refuses a body of %o, and says what to send', (headers, word) => {
  expect(bodyRefusalOf(headers)).toMatchObject({
    status: 415,
    code: 'unsupported_media_type',
    message: expect.stringContaining(word),
  });
});

it.each([
  ['/path?query', '/path?query'],
  ['//evil.test/path', '//evil.test/path'],
  ['http://a:1/path?query', '/path?query'],
  ['HTTPS://A:1', '/'],
  ['http://b:1/path', undefined],
  ['http://user@a:1/path', undefined],
  ['http://a:1\\evil', undefined],
  ['ftp://a:1/path', undefined],
  ['*', undefined],
  ['a:1', undefined],
  ['', undefined],
])('reads the target %s as %s', (target, path) => {
  expect(readTarget(target, 'a:1')).toBe(path);
});
