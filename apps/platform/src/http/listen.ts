/**
 * Serves an app on a port and stops cleanly.
 *
 * @module
 */
import type { AddressInfo } from 'node:net';
import { type HttpBindings, type ServerType, serve } from '@hono/node-server';
import type { ListenConfig } from '../config.ts';

export type Listening = { readonly url: string; close(): Promise<void> };

/** What an app learns of the connection a request came by. */
export type Connection = { readonly remoteAddress?: string };

export function listen(
  fetch: (request: Request, connection: Connection) => Response | Promise<Response>,
  config: ListenConfig,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server: ServerType = serve(
      {
        fetch: (request, env) => {
          const { remoteAddress } = (env as HttpBindings).incoming.socket;
          return fetch(request, remoteAddress === undefined ? {} : { remoteAddress });
        },
        hostname: config.host,
        port: config.port,
      },
      (address: AddressInfo) => {
        const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
        resolve({ url: `http://${host}:${address.port}`, close: () => close(server) });
      },
    );
    server.once('error', reject);
  });
}

function close(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ('closeIdleConnections' in server) {
      server.closeIdleConnections();
    }
    // Requests under way get a moment to finish; a connection kept open must not hold the process.
    const timer = setTimeout(() => {
      if ('closeAllConnections' in server) {
        server.closeAllConnections();
      }
    }, 5_000);
    timer.unref();
  });
}
