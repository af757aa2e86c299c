import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

describe('startTcpProxy', () => {
  let server: Server;
  let proxy: TcpProxy;
  const ends = new Set<Socket>();

  beforeAll(async () => {
    // Answers with what it receives.
    server = createServer((socket) => {
      ends.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => ends.delete(socket));
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    // Nothing listens on the first port.
    proxy = await startTcpProxy([1, port]);
  });
  afterAll(async () => {
    await proxy.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    proxy.restore();
  });

  async function open(): Promise<Socket> {
    const socket = connect(proxy.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  function ask(socket: Socket, text: string, ms = 45_000): Promise<string> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('silence'), ms);
      const answer = (value: string) => () => {
        clearTimeout(timer);
        resolve(value);
      };
      socket.once('data', (data: Buffer) => answer(data.toString())());
      socket.once('close', answer('closed'));
      socket.write(text);
    });
  }

  it('forwards to a server that listens', async () => {
    const [first, second] = [await open(), await open()];
    expect([await ask(first, 'one'), await ask(second, 'two')]).toEqual(['one', 'two']);
    first.destroy();
    second.destroy();
    await expect.poll(() => ends.size).toBe(0);
  });

  it('leaves clients with silent connections whose server is gone', async () => {
    const client = await open();
    expect(await ask(client, 'one')).toBe('one');
    proxy.lose('server');
    await expect.poll(() => ends.size).toBe(0);
    const late = await open();
    expect([await ask(client, 'two', 300), await ask(late, 'three', 300)]).toEqual([
      'silence',
      'silence',
    ]);
    await expect.poll(() => proxy.affected).toBe(2);
    proxy.restore();
    expect(client.closed).toBe(false);
    expect([await ask(client, 'four'), await ask(await open(), 'five')]).toEqual([
      'closed',
      'five',
    ]);
  });

  it('leaves the server with connections whose clients are gone', async () => {
    const client = await open();
    expect(await ask(client, 'one')).toBe('one');
    const before = ends.size;
    proxy.lose('client');
    await expect.poll(() => client.closed).toBe(true);
    expect(ends.size).toBe(before);
    expect(await ask(await open(), 'two')).toBe('two');
    proxy.restore();
    await expect.poll(() => ends.size).toBe(1);
  });
});
