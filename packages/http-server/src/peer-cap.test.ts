// One peer must not hold all connections of a server. Real sockets; 127.0.0.2 is another peer than 127.0.0.1.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpLimits, type HttpServer, serveHttp } from './http-server.ts';
import { describePeer } from './peer.ts';

describe('the cap of connections of one peer', () => {
  let server: HttpServer;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) {
      socket.destroy();
    }
    await server.close();
  });
  async function start(limits: Partial<HttpLimits>): Promise<void> {
    server = await serveHttp(() => new Response('answered'), {
      host: '127.0.0.1',
      port: 0,
      onRefused: () => undefined,
      limits: { checkMs: 50, graceMs: 200, ...limits },
    });
  }
  function open(localAddress: string): Socket {
    const socket = connect({
      host: '127.0.0.1',
      port: Number(new URL(server.url).port),
      localAddress,
    });
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  }
  /** Whether a request over a new connection is answered; the connection stays open. */
  async function isServed(localAddress: string): Promise<boolean> {
    const socket = open(localAddress);
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    return await new Promise((resolve) => {
      socket.once('data', () => resolve(true));
      socket.once('close', () => resolve(false));
    });
  }

  it('keeps connections free for others while one peer opens as many as it can', async () => {
    await start({ maxConnections: 20, maxConnectionsPerPeer: 5 });
    const flood = [];
    for (let i = 0; i < 30; i += 1) {
      flood.push(await isServed('127.0.0.2'));
    }
    expect(flood.filter(Boolean)).toHaveLength(5);
    expect(await isServed('127.0.0.1')).toBe(true);
  });

  it('counts connections that never send a byte', async () => {
    await start({ maxConnections: 20, maxConnectionsPerPeer: 3 });
    for (let i = 0; i < 20; i += 1) {
      open('127.0.0.2');
    }
    await sleep(200);
    expect(await isServed('127.0.0.2')).toBe(false);
    expect(await isServed('127.0.0.1')).toBe(true);
  });

  it('lets a peer connect again when its connections have ended', async () => {
    await start({ maxConnectionsPerPeer: 2 });
    expect([await isServed('127.0.0.2'), await isServed('127.0.0.2')]).toEqual([true, true]);
    expect(await isServed('127.0.0.2')).toBe(false);
    sockets[0]?.destroy();
    await expect.poll(() => isServed('127.0.0.2')).toBe(true);
    expect(await isServed('127.0.0.2')).toBe(false);
  });

  it.each([0, undefined])('does not apply for %s', async (cap) => {
    await start(cap === undefined ? {} : { maxConnectionsPerPeer: cap });
    const served = [];
    for (let i = 0; i < 300; i += 1) {
      served.push(await isServed('127.0.0.2'));
    }
    expect(served.every(Boolean)).toBe(true);
  });

  it('gives the places of connections without a request to others when the server is full', async () => {
    await start({ maxConnections: 20 });
    const flood = [];
    for (let i = 0; i < 19; i += 1) {
      flood.push(await isServed('127.0.0.2'));
    }
    expect(flood.every(Boolean)).toBe(true);
    expect(await isServed('127.0.0.1')).toBe(true);
    expect(await isServed('127.0.0.1')).toBe(true);
  });
});

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('reads %s as the peer %s', (address, peer) => {
  expect(describePeer(address)).toBe(peer);
});
