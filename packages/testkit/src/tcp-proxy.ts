/**
 * A proxy of TCP connections, in front of one server or several of a kind, that can leave connections half open: one end is gone, and the
 * other end is not told.
 */
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';

/**
 * `server`: the servers' ends are closed, while the clients' stay open and silent, as new connections do. Afterwards a client hears of it
 * when it sends something. `client`: the clients' ends are closed, and the servers' stay open. New connections work.
 */
export type LostEnd = 'server' | 'client';

export type TcpProxy = {
  readonly port: number;
  /** How many connections the last loss affected, those that were opened during it included. One that affected none proves nothing. */
  readonly affected: number;
  /** From now on one end of each connection is gone. */
  lose(end: LostEnd): void;
  /** New connections work, and no server keeps one whose client is gone. */
  restore(): void;
  stop(): Promise<void>;
};

type Pair = { readonly client: Socket; readonly server: Socket };

/** @param ports - of the servers on this machine; read for each connection. They take turns, and one that refuses is left out */
export async function startTcpProxy(ports: readonly number[]): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  /** Each end that is open. */
  const sockets = new Set<Socket>();
  const orphans = new Set<Socket>();
  let isSilent = false;
  let affected = 0;
  let turn = 0;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  }

  /** Its peer is gone, and does not say so. */
  function abandon(client: Socket): void {
    affected += 1;
    client.on('data', () => {
      if (!isSilent) {
        client.resetAndDestroy();
      }
    });
    client.resume();
  }

  function join(client: Socket, server: Socket): void {
    const pair = { client, server };
    pairs.add(pair);
    const end = (): void => {
      if (pairs.delete(pair)) {
        client.destroy();
        server.destroy();
      }
    };
    client.once('close', end);
    server.once('close', end);
    client.pipe(server);
    server.pipe(client);
  }

  function forward(client: Socket, attempt = 0): void {
    if (isSilent) {
      abandon(client);
      return;
    }
    const server = dial(ports[(turn + attempt) % ports.length] ?? 0, '127.0.0.1');
    keep(server);
    server.once('error', () => {
      if (server.pending && attempt + 1 < ports.length) {
        forward(client, attempt + 1);
      } else {
        client.destroy();
      }
    });
    server.once('connect', () => {
      if (client.destroyed) {
        server.destroy();
      } else {
        join(client, server);
      }
    });
  }

  const listener = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    keep(client);
    turn += 1;
    forward(client);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    get affected() {
      return affected;
    },
    lose(end) {
      affected = 0;
      isSilent = end === 'server';
      for (const { client, server } of [...pairs]) {
        client.unpipe(server);
        server.unpipe(client);
        if (end === 'server') {
          abandon(client);
          server.resetAndDestroy();
        } else {
          affected += 1;
          orphans.add(server);
          server.resume();
          client.resetAndDestroy();
        }
      }
      pairs.clear();
    },
    restore() {
      isSilent = false;
      for (const server of orphans) {
        server.destroy();
      }
      orphans.clear();
    },
    async stop() {
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    },
  };
}
