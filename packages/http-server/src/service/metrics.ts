/**
 * `GET /metrics` of the platform and of the gate, with a token of its own (docs/decisions/0010). The numbers name chains and states:
 * no address, amount of a payment or key.
 *
 * @module
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PoolError, type Secret } from '@pool/core';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Shell, ShellContext } from '../shell/shell-context.ts';
import { hashCredential, isSameHash } from './credential-hash.ts';
import { readBearer, unauthorized } from './read-request.ts';

export type Sample = {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
};

/** A number that is read when the monitoring asks for it. */
export type Measure = {
  readonly name: string;
  readonly help: string;
  /** Default: `gauge`. */
  readonly type?: 'gauge' | 'counter';
  read(): readonly Sample[] | Promise<readonly Sample[]>;
};

/** Which software answers: the same name in every service, so that one query lists the versions that run. */
export function createBuildMeasure(service: string, version: string): Measure {
  return {
    name: 'pool_build_info',
    help: 'The service and the version of its software.',
    read: () => [{ value: 1, labels: { service, version } }],
  };
}

/** @param token - undefined: the route answers that it is not there */
export function addMetricsRoute(
  app: Shell,
  measures: readonly Measure[],
  token: Secret | undefined,
): void {
  const expected = token === undefined ? undefined : hashCredential(token.reveal());
  const all = [...measures, ...listProcessMeasures()];
  app.get('/metrics', async (c) => {
    if (expected === undefined) {
      throw new PoolError('not_found', 'there is no such route');
    }
    if (!isSameHash(expected, hashCredential(readBearer(c)))) {
      throw unauthorized('send Authorization: Bearer with the metrics token');
    }
    return await answerMetrics(c, all);
  });
}

/** Of a service whose tokens have another form. The caller has compared them. */
export async function answerMetrics(
  c: ShellContext,
  measures: readonly Measure[],
): Promise<Response> {
  return c.body(await renderMeasures(measures), 200, {
    'content-type': Registry.PROMETHEUS_CONTENT_TYPE,
  });
}

async function renderMeasures(measures: readonly Measure[]): Promise<string> {
  const registry = new Registry();
  const read = await Promise.all(
    measures.map(async (measure) => ({ ...measure, samples: await measure.read() })),
  );
  for (const { name, help, type, samples } of read) {
    const labelNames = Object.keys(samples[0]?.labels ?? {});
    const options = { name, help, labelNames, registers: [registry] };
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
    // A number that is not known is absent: without labels, the library begins at 0.
    if (samples.length === 0) {
      metric.remove();
    }
    for (const { labels = {}, value } of samples) {
      metric.inc(labels, value);
    }
  }
  return await registry.metrics();
}

function listProcessMeasures(): Measure[] {
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  return [
    {
      name: 'process_resident_memory_bytes',
      help: 'Memory of the process, all threads.',
      read: () => [{ value: process.memoryUsage.rss() }],
    },
    {
      name: 'process_cpu_seconds_total',
      help: 'Processor time, user and system.',
      type: 'counter',
      read() {
        const { user, system } = process.cpuUsage();
        return [{ value: (user + system) / 1e6 }];
      },
    },
    {
      name: 'nodejs_eventloop_lag_p99_seconds',
      help: 'How late a timer of 10 ms was since the last scrape, 99th percentile.',
      read() {
        // Measured from the first scrape on.
        if (delay === undefined) {
          delay = monitorEventLoopDelay({ resolution: 10 });
          delay.enable();
          return [];
        }
        const value = delay.percentile(99) / 1e9;
        delay.reset();
        return [{ value }];
      },
    },
  ];
}
