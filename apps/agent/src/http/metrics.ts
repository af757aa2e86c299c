/**
 * The metrics of the agent and their credential (README.md, "Metrics"). They have no amount, address, key or label of a pay run.
 * They do show how many proofs were made and when, so they are for the operator only.
 *
 * @module
 */

import { isSameSecret } from '@pool/configuration';
import { PoolError, type Secret } from '@pool/core';
import { type ProverMetrics, renderMetricFamily, renderProverMetrics } from '@pool/prover';
import { readBearer } from './bearer.ts';

/** Prometheus' text format. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

export type MetricsDeps = {
  readonly loopbackToken: Secret;
  /** Opens this route and nothing else. Undefined: DISBURSE_METRICS_TOKEN is not set. */
  readonly metricsToken: Secret | undefined;
};

/** @throws PoolError 401 `unauthorized` for any other credential, API keys included: the platform is not asked */
export function authenticateMetrics(authorization: string | undefined, deps: MetricsDeps): void {
  const token = readBearer(authorization);
  const accepted = [deps.loopbackToken, deps.metricsToken].filter((secret) => secret !== undefined);
  // Each secret is compared, so that the time does not show which one matched.
  const matches = accepted.map(
    (secret) => token !== undefined && isSameSecret(token, secret.reveal()),
  );
  if (!matches.includes(true)) {
    throw new PoolError(
      'unauthorized',
      'send Authorization: Bearer with the metrics token or the loopback token',
    );
  }
}

/** Resources of the process, in bytes and seconds. */
export type ProcessUsage = {
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  readonly startedAtMs: number;
};

export function renderAgentMetrics(input: {
  readonly version: string;
  readonly prover: ProverMetrics;
  readonly usage: ProcessUsage;
  /** Jobs past their retention that could not be erased. */
  readonly unerasedJobs: number;
  /** Seconds by stage, of the one that came no step further for the longest time. */
  readonly oldestJobs: Readonly<Record<string, number>>;
}): string {
  const { version, prover, usage, unerasedJobs, oldestJobs } = input;
  const single = (name: string, type: 'gauge' | 'counter', help: string, value: number): string =>
    renderMetricFamily(name, type, help, [['', {}, value]]);
  return [
    renderMetricFamily('pool_build_info', 'gauge', 'The service and the version of its software.', [
      ['', { service: 'agent', version }, 1],
    ]),
    single(
      'process_resident_memory_bytes',
      'gauge',
      'Memory of the process, all threads.',
      usage.rssBytes,
    ),
    single('nodejs_heap_size_used_bytes', 'gauge', 'JavaScript heap in use.', usage.heapBytes),
    single(
      'process_cpu_seconds_total',
      'counter',
      'Processor time, user and system.',
      usage.cpuSeconds,
    ),
    single(
      'process_start_time_seconds',
      'gauge',
      'When the agent started, Unix time.',
      usage.startedAtMs / 1000,
    ),
    single(
      'pool_agent_unerased_jobs',
      'gauge',
      'Jobs past their retention that could not be erased.',
      unerasedJobs,
    ),
    renderMetricFamily(
      'pool_agent_oldest_job_seconds',
      'gauge',
      'Longest time without a step of a disbursement that has not ended, in this job store, by stage.',
      Object.entries(oldestJobs).map(([stage, seconds]) => ['', { stage }, seconds]),
    ),
    renderProverMetrics(prover, 'pool_prover'),
  ].join('');
}
