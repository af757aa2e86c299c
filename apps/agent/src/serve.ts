/**
 * `disburse-agent serve`: the HTTP server around the agent, and its end on SIGTERM or SIGINT.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { PoolError } from '@pool/core';
import { startAgent } from './agent.ts';
import type { AgentLog } from './agent-log.ts';
import type { Config } from './config.ts';

/** How long open work gets to reach a safe point before the process ends anyway. */
const graceMs = 20_000;

/** Serves until a signal comes. Resolves when everything is closed. */
export async function serveAgent(
  config: Config,
  log: AgentLog,
  onListening: (url: string) => void,
): Promise<void> {
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => resolve(signal));
    }
  });
  const agent = await startAgent(config, log);
  let server: Server;
  try {
    server = await listen(agent.app.fetch, config);
  } catch (error) {
    await agent.close();
    throw error;
  }
  onListening(`http://${config.host}:${portOf(server, config)}`);
  log.info({ host: config.host, port: portOf(server, config) }, 'listening');

  const signal = await stopped;
  log.info({ signal }, 'stopping');
  // A stuck call must not keep a supervisor waiting: every step is persisted, ending hard loses nothing.
  const hardStop = setTimeout(() => process.exit(1), graceMs);
  hardStop.unref();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  await agent.close();
  log.info({}, 'stopped');
}

function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  config: Config,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const listener = getRequestListener(fetch, {
      hostname: config.host,
      errorHandler: () => answerUnreadable(),
    });
    // A request without Host gets the guards' answer, in the form of all others, not Node's.
    const server = createServer({ requireHostHeader: false }, (request, response) => {
      void listener(request, response);
    });
    server.on('clientError', (_error, socket) => endUnreadable(socket));
    server.once('error', (cause: Error) =>
      reject(
        new PoolError(
          'cannot_listen',
          `cannot listen on ${config.host}:${config.port}; is another agent running? choose DISBURSE_PORT`,
          { cause },
        ),
      ),
    );
    server.listen(config.port, config.host, () => resolve(server));
  });
}

/** For what cannot be read as a request at all, so that no route and no guard sees it. */
const unreadableBody = JSON.stringify({
  code: 'invalid_request',
  message:
    'the request cannot be read: check the request line, the Host header and the size of the headers',
});

function createUnreadableHeaders(): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-request-id': randomUUID(),
    'cache-control': 'no-store',
  };
}

function answerUnreadable(): Response {
  return new Response(unreadableBody, { status: 400, headers: createUnreadableHeaders() });
}

/** The same where Node's parser gave up, and there is nothing to answer through but the socket. */
function endUnreadable(socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const headers = Object.entries({
    ...createUnreadableHeaders(),
    'content-length': String(Buffer.byteLength(unreadableBody)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(['HTTP/1.1 400 Bad Request', ...headers, '', unreadableBody].join('\r\n'));
}

function portOf(server: Server, config: Config): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : config.port;
}
