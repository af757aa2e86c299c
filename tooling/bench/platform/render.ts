// The platform benchmark as a section of RESULTS.md.

import type { LoadResult } from '../agent/load.ts';
import type { LoopDelay } from '../agent/loop-delay-probe.ts';

export interface PlatformMeasurement {
  readonly name: string;
  readonly load: LoadResult;
  /** Of the platform's main thread, over the same time. */
  readonly loopDelay: LoopDelay;
}

export interface PlatformResults {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
  /** Over the last minute, when the measurement ended. */
  readonly loadAverage: number;
  readonly measurements: readonly PlatformMeasurement[];
}

function formatMs(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}

export function renderPlatformResults(results: PlatformResults): string {
  const rows = results.measurements.map(
    ({ name, load, loopDelay }) =>
      `| ${[
        name,
        load.requests,
        load.errors,
        formatMs(load.p50Ms),
        formatMs(load.p99Ms),
        formatMs(load.maxMs),
        formatMs(loopDelay.p99Ms),
        formatMs(loopDelay.maxMs),
        formatMs(loopDelay.busyP99Ms ?? Number.NaN),
        formatMs(loopDelay.busyMaxMs ?? Number.NaN),
      ].join(' | ')} |`,
  );
  return [
    '## The platform under load',
    '',
    `${results.machine}. ${results.date}. Embedded database; all processes share the machine. A sign-in is a nonce, a signature and its verification. One turn is the processor time of the main thread between two ticks of 1 ms. Load average: ${results.loadAverage.toFixed(1)}.`,
    '',
    '| what | requests | errors | p50 ms | p99 | slowest | event loop p99 | event loop max | one turn p99 | one turn max |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...rows,
    '',
  ].join('\n');
}
