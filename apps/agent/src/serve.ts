/**
 * `disburse-agent serve`: the HTTP server around the agent, and its end on SIGTERM or SIGINT.
 *
 * @module
 */
import { type ServerType, serve } from '@hono/node-server';
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
  let server: ServerType;
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
    if ('closeIdleConnections' in server) {
      server.closeIdleConnections();
    }
  });
  await agent.close();
  log.info({}, 'stopped');
}

function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  config: Config,
): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: config.host, port: config.port }, () =>
      resolve(server),
    );
    server.once('error', (cause: Error) =>
      reject(
        new PoolError(
          'cannot_listen',
          `cannot listen on ${config.host}:${config.port}; is another agent running? choose DISBURSE_PORT`,
          { cause },
        ),
      ),
    );
  });
}

function portOf(server: ServerType, config: Config): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : config.port;
}
