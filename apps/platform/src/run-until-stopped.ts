/**
 * The life of a service once it listens: it prints its address, reads keys and caps again on SIGHUP, and ends on another signal.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import { describeFailure, type Log } from '@pool/http-server';
import type { Served } from './serve-platform.ts';

export function runUntilStopped(served: Served, log: Log): void {
  process.stdout.write(`${JSON.stringify({ event: 'listening', url: served.url })}\n`);
  let stopping = false;
  const stop = (): void => {
    if (stopping) {
      return;
    }
    stopping = true;
    served.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ ...describeFailure(error) }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGHUP', () => {
    try {
      served.reload();
      log.info('read keys and caps on fees again');
    } catch (error) {
      // The message names variables, never values.
      const problem = isPoolError(error) ? { problem: error.message } : describeFailure(error);
      log.error({ ...problem }, 'nothing was changed: the configuration is wrong');
    }
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
