// What two readers of one request could disagree about.
import { expect, it } from 'vitest';
import { findRefusal, readTarget } from './http-refusal.ts';

const refusalOf = (host: string | undefined, ...rawHeaders: string[]) =>
  findRefusal({ rawHeaders, headers: host === undefined ? {} : { host }, url: '/' }, 3)?.status;

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
])('reads %s as none', (host) => {
  expect(refusalOf(host)).toBe(400);
});

it('takes once what says who asks for what, and any number of others', () => {
  expect(refusalOf('a', 'Accept', 'x', 'accept', 'y')).toBeUndefined();
  expect(refusalOf('a', 'Authorization', 'x', 'aUthorization', 'x')).toBe(400);
  expect(refusalOf('a', 'Idempotency-Key', 'x', 'a', 'b', 'idempotency-key', 'y')).toBe(400);
  expect(refusalOf('a', ...Array.from({ length: 8 }, () => 'x'))).toBe(431);
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
