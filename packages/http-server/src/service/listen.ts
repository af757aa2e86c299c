/**
 * Serves an app of the platform or of the gate on a port, and stops cleanly.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { type Connection, type HttpLimits, type HttpServer, serveHttp } from '../http-server.ts';
import type { Log } from './log.ts';

export type ListenConfig = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly limits?: Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerPeer'>;
};

/** @throws PoolError `cannot_listen` */
export async function listen(
  fetch: (request: Request, connection: Connection) => Response | Promise<Response>,
  config: ListenConfig,
  log: Pick<Log, 'info'>,
  limits: Partial<HttpLimits> = {},
): Promise<HttpServer> {
  try {
    return await serveHttp(fetch, {
      host: config.host,
      port: config.port,
      limits: { ...config.limits, ...limits },
      onRefused: (refused) => log.info(refused, 'request refused'),
    });
  } catch (cause) {
    throw new PoolError(
      'cannot_listen',
      `cannot listen on ${config.host}:${config.port}; is another process running there?`,
      { cause },
    );
  }
}
