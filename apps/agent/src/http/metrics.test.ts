import { createMockProver } from '@pool/prover';
import { expect, it } from 'vitest';
import { renderAgentMetrics } from './metrics.ts';

it('reports the process and the prover, each family once', async () => {
  const prover = createMockProver();
  const circuits = [
    {
      circuit: 'fund-16',
      outcomes: { proved: 2, witness_refused: 1 },
      durations: [[1, 1] as const, [5, 2] as const],
      seconds: 3.5,
      waitSeconds: 0.5,
    },
  ];
  const text = renderAgentMetrics({
    version: '1.2.3',
    prover: { ...prover.metrics(), circuits, queued: 4, residentKeys: 1, secondsBusy: 3.5 },
    usage: { rssBytes: 1000, heapBytes: 200, cpuSeconds: 1.5, startedAtMs: 5_500 },
    unerasedJobs: 2,
    oldestJobs: { settling: 90.5, 'awaiting-release': 3 },
  });
  await prover.close();
  const lines = text.split('\n');
  for (const line of [
    'pool_build_info{service="agent",version="1.2.3"} 1',
    'process_resident_memory_bytes 1000',
    'process_cpu_seconds_total 1.5',
    'process_start_time_seconds 5.5',
    'pool_agent_unerased_jobs 2',
    'pool_agent_oldest_job_seconds{stage="settling"} 90.5',
    'pool_prover_queued 4',
    'pool_prover_busy_seconds_total 3.5',
    'pool_prover_resident_keys 1',
    'pool_prover_accelerator_info{kind="none",detail="mock: dry runs only"} 1',
    'pool_prover_proofs_total{circuit="fund-16",outcome="proved"} 2',
    'pool_prover_proofs_total{circuit="fund-16",outcome="witness_refused"} 1',
    'pool_prover_proof_duration_seconds_bucket{circuit="fund-16",le="1"} 1',
    'pool_prover_proof_duration_seconds_bucket{circuit="fund-16",le="+Inf"} 2',
    'pool_prover_proof_duration_seconds_sum{circuit="fund-16"} 3.5',
    'pool_prover_wait_seconds_total{circuit="fund-16"} 0.5',
  ]) {
    expect(lines).toContain(line);
  }
  // The grammar of the text format: comments, or a name with labels and a number; every family is typed once and ends with a newline.
  const sample = /^[a-z_]+(\{([a-z]+="[^"\\]*",?)+\})? [0-9.e+-]+$/;
  expect(lines.at(-1)).toBe('');
  expect(
    lines.filter((line) => line !== '' && !line.startsWith('#') && !sample.test(line)),
  ).toEqual([]);
  const typed = lines
    .filter((line) => line.startsWith('# TYPE '))
    .map((line) => line.split(' ')[2]);
  expect(new Set(typed).size).toBe(typed.length);
});
