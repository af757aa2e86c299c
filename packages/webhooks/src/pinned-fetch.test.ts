// Addresses that a webhook must never reach (OWASP, "Server-Side Request Forgery Prevention").
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createPinnedFetch, isPublicAddress } from './pinned-fetch.ts';

describe('isPublicAddress', () => {
  it.each([
    ...['127.0.0.1', '127.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '100.100.100.200', '168.63.129.16', '0.0.0.0'],
    ...['192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
    ...['240.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fc00::1', 'fd00:ec2::254'],
    ...['::ffff:10.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::'],
    ...['2001::1', '2001:db8::1', 'ff02::1', 'fec0::1', 'localhost', '1.2.3', ''],
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
    'accepts %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe('a pinned fetch', () => {
  const refused = { code: 'webhook_target_refused' };

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
  ])('refuses the address %s without a connection', async (url) => {
    const fetch = createPinnedFetch({ allowInsecureLoopback: false });
    await expect(fetch(url, {})).rejects.toMatchObject(refused);
  });

  it.each([[['10.0.0.1']], [['1.1.1.1', '169.254.169.254']], [['::1']]])(
    'refuses a name that resolves to %s',
    async (addresses) => {
      const fetch = createPinnedFetch({
        allowInsecureLoopback: false,
        resolve: (_, done) =>
          done(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          ),
      });
      await expect(fetch('https://hook.example/', {})).rejects.toMatchObject(refused);
    },
  );

  it('connects to the address that was checked, with the name of the target in the request', async () => {
    const server = createServer((request, response) => response.end(request.headers.host));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    let asked = 0;
    const fetch = createPinnedFetch({
      allowInsecureLoopback: true,
      resolve: (_, done) => {
        asked += 1;
        done(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    const answer = await fetch(`http://hook.example:${port}/`, { method: 'POST', body: '{}' });
    expect(await answer.text()).toBe(`hook.example:${port}`);
    expect(asked).toBe(1);
    server.close();
  });
});
