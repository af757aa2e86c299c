/**
 * What the routes of settlements and of spends share.
 *
 * @module
 */
import { deriveTraceId } from '@pool/core';
import type { ShellContext } from '@pool/http-server';

/** From here on every log line of the request carries the id that finds the job in all logs. */
export function traceJob(c: ShellContext, key: string): void {
  c.set('log', c.get('log').child({ trace: deriveTraceId(key) }));
}
