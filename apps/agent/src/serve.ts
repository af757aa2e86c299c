/**
 * `disburse-agent serve`: the HTTP server around the agent. SIGTERM or SIGINT ends it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { createRedactedLog, type HttpServer, serveHttp } from '@pool/http-server';
import { exitCodes, type Output } from '@pool/pay-run';
import { startAgent } from './agent.ts';
import { readConfig, startAgentTracing } from './config/config.ts';
import { startConfiguredSchedules } from './services/jobs/schedules.ts';

/** Time for open work to reach a safe point; after it the process ends. */
const graceMs = 20_000;

/** Serves until SIGTERM or SIGINT. Resolves when everything is closed. @returns the exit code */
export async function runServe(
  { envFile }: { readonly envFile?: string },
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const config = readConfig(envFile);
  const log = createRedactedLog(config.logLevel);
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => resolve(signal));
    }
  });
  const stopTracing = await startAgentTracing('pool-agent');
  const agent = await startAgent(config, log);
  let server: HttpServer;
  try {
    server = await serveHttp((request, from) => agent.app.fetch(request, from), {
      host: config.host,
      port: config.port,
      limits: {
        maxConnections: config.maxConnections,
        maxConnectionsPerPeer: config.maxConnectionsPerPeer,
      },
      onRefused: (refused) => log.info({ ...refused }, 'request refused'),
    });
  } catch (cause) {
    await agent.close();
    throw new PoolError(
      'cannot_listen',
      `cannot listen on ${config.host}:${config.port}; stop the other agent, or choose another DISBURSE_PORT`,
      { cause },
    );
  }
  out(`disburse-agent listens on ${server.url}`);
  log.info({ url: server.url }, 'listening');
  const schedules = await startConfiguredSchedules(config, server.url, log);

  const signal = await stopped;
  log.info({ signal }, 'stopping');
  // A stuck call must not block a supervisor. Every step is persisted, so a hard exit loses nothing.
  const hardStop = setTimeout(() => process.exit(1), graceMs);
  hardStop.unref();
  agent.endWaits();
  // A preparation in progress goes on as long as the server answers. The next start continues it.
  const schedulesStopped = schedules.stop();
  await server.close();
  await agent.close();
  await schedulesStopped;
  await stopTracing?.();
  log.info({}, 'stopped');
  return exitCodes.ok;
}
