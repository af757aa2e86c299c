// Names as a Host header and a URL write them. http-refusal.test.ts tests headers that are not a host, too.
import { expect, it } from 'vitest';
import { formatAuthority, readHostName, withoutBrackets } from './host-name.ts';

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['LOCALHOST:1', 'localhost'],
  ['agent.example:443', 'agent.example'],
  ['[0:0::1]:8787', '[::1]'],
  ['[2001:DB8::1]', '[2001:db8::1]'],
  ['127.0.0.1:99999', undefined],
  ['user@127.0.0.1', undefined],
  ['127.0.0.1/evil', undefined],
  ['::1', undefined],
  ['', undefined],
  [undefined, undefined],
])('reads %s as the name %s', (host, name) => {
  expect(readHostName(host)).toBe(name);
});

it('writes host and port as in a URL, and an address as `listen` expects it', () => {
  expect(formatAuthority('localhost', 80)).toBe('localhost:80');
  expect(formatAuthority('::1', 80)).toBe('[::1]:80');
  expect(formatAuthority('[::1]', 80)).toBe('[::1]:80');
  expect([withoutBrackets('[::1]'), withoutBrackets('::1')]).toEqual(['::1', '::1']);
});
