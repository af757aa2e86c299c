/**
 * Runs the gate until SIGTERM or SIGINT: serves its routes, looks at the custodian, examines everything every hour, and every minute while
 * something is wrong, reads the policy again on SIGHUP.
 *
 * @module
 */

import { setTimeout } from 'node:timers/promises';
import { errorCodeOf, PoolError } from '@pool/core';
import { type HttpServer, serveHttp } from '@pool/http-server';
import { startGateTracing } from '../config/config.ts';
import { nameError } from '../config/gate-home.ts';
import { gateLimits } from '../http/app.ts';
import { type Gate, type GateOptions, openGate } from './gate.ts';

const hourMs = 3_600_000;
/** A custodian whose configuration was wrong is examined again soon. */
const minuteMs = 60_000;
/** A standby looks for a free ledger. */
const standbyMs = 1_000;
/** Time for open work to end; every step is stored, so a hard exit loses nothing. */
const graceMs = 20_000;

export type RunOptions = GateOptions & {
  /** Waits while another process votes with the ledger, and takes over when that one ends. */
  readonly isStandby?: boolean;
};

/**
 * Resolves when the gate was stopped. When one of its loops ends by itself, the server is closed too: a gate that looks at nothing must
 * not seem to run.
 *
 * @throws PoolError `ledger_in_use`, `invalid_policy`, `invalid_configuration`, `cannot_listen`, and the error that ended a loop
 */
export async function runGate(
  options: RunOptions,
  onListening: (url: string) => void,
): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGTERM', stop).once('SIGINT', stop);
  let gate: Gate | undefined;
  try {
    gate = await openWhenFree(options, stopping.signal);
  } finally {
    if (gate === undefined) {
      process.off('SIGTERM', stop).off('SIGINT', stop);
    }
  }
  if (gate === undefined) {
    return;
  }
  const stopTracing = await startGateTracing();
  await serveGate(gate, options, { stopping, stop }, onListening);
  await stopTracing?.();
}

/** A standby waits until no other process votes with the ledger. @returns undefined when it was stopped meanwhile */
async function openWhenFree(
  { isStandby = false, ...options }: RunOptions,
  signal: AbortSignal,
): Promise<Gate | undefined> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      // Settings and policy are read again each time: they may have changed while it waited.
      return openGate(options);
    } catch (error) {
      if (!isStandby || errorCodeOf(error) !== 'ledger_in_use') {
        throw error;
      }
      if (tries === 0) {
        options.log.info({}, 'standing by: another process votes with this ledger');
      }
      await pause(standbyMs, signal);
    }
  }
  return undefined;
}

async function serveGate(
  gate: Gate,
  options: GateOptions,
  { stopping, stop }: { readonly stopping: AbortController; readonly stop: () => void },
  onListening: (url: string) => void,
): Promise<void> {
  const { config, log } = options;
  const reload = (): void => {
    try {
      gate.reloadPolicy();
    } catch (error) {
      log.error({ error: nameError(error) }, 'the new policy could not be recorded');
    }
  };
  process.on('SIGHUP', reload);
  try {
    const server = await listen(gate, options);
    onListening(server.url);
    log.info({ url: server.url, custodian: config.custodian.kind }, 'listening');
    const loops = [keepExamining(gate, stopping.signal), keepPolling(gate, stopping.signal)];
    try {
      await Promise.all(loops);
    } catch (error) {
      log.error({ error: nameError(error) }, 'the gate ends, because it cannot go on');
      throw error;
    } finally {
      const hardStop = globalThis.setTimeout(() => process.exit(1), graceMs);
      hardStop.unref();
      stopping.abort();
      await Promise.allSettled(loops);
      log.info({}, 'stopping');
      await server.close();
      clearTimeout(hardStop);
    }
  } finally {
    process.off('SIGHUP', reload).off('SIGTERM', stop).off('SIGINT', stop);
    gate.close();
  }
  log.info({}, 'stopped');
}

async function listen(gate: Gate, { config, log }: GateOptions): Promise<HttpServer> {
  try {
    return await serveHttp((request, from) => gate.app.fetch(request, from), {
      host: config.host,
      port: config.port,
      onRefused: (refused) => log.info({ ...refused }, 'request refused'),
      limits: gateLimits,
    });
  } catch (cause) {
    throw new PoolError(
      'cannot_listen',
      `cannot listen on ${config.host}:${config.port}; stop what listens there, or choose another APPROVE_PORT`,
      { cause },
    );
  }
}

async function keepExamining(gate: Gate, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const reloaded = new AbortController();
    gate.onReload(() => reloaded.abort());
    const { ok } = await gate.examine();
    await pause(
      ok && gate.nodeProblems().length === 0 ? hourMs : minuteMs,
      AbortSignal.any([signal, reloaded.signal]),
    );
  }
}

async function keepPolling(gate: Gate, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const woken = new AbortController();
    gate.onWake(() => woken.abort());
    await gate.poll();
    await pause(1000 * gate.pollSeconds, AbortSignal.any([signal, woken.signal]));
  }
}

/** Ends early when the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}
