// Which address a limit counts for: an address that a caller made up must not count.
import { expect, it } from 'vitest';
import { parseCallerAddress } from './shell.ts';

it.each([
  ['the connection', '192.0.2.1', undefined, 0, '192.0.2.1'],
  ['no header without a proxy', '192.0.2.1', '198.51.100.7', 0, '192.0.2.1'],
  [
    'the address that the nearest proxy saw',
    '127.0.0.1',
    '203.0.113.9, 198.51.100.7',
    1,
    '198.51.100.7',
  ],
  [
    'the address that the outer of two proxies saw',
    '127.0.0.1',
    '1.1.1.1, 198.51.100.7, 10.0.0.1',
    2,
    '198.51.100.7',
  ],
  ['the connection for a header that is not an address', '127.0.0.1', 'evil', 1, '127.0.0.1'],
  [
    'the connection for a header with too few addresses',
    '127.0.0.1',
    '198.51.100.7',
    2,
    '127.0.0.1',
  ],
  ['IPv4 inside IPv6', '::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
  ['a network of IPv6', '2001:db8:0:1:aaaa::1', undefined, 0, '2001:db8:0:1::/64'],
  ['a network of short IPv6', '2001:0db8::1', undefined, 0, '2001:db8:0:0::/64'],
  ['loopback of IPv6', '::1', undefined, 0, '0:0:0:0::/64'],
  ['"unknown" without any address', undefined, undefined, 0, 'unknown'],
])('uses %s', (_name, remote, forwardedFor, hops, expected) => {
  expect(parseCallerAddress(remote, forwardedFor, hops)).toBe(expected);
});
