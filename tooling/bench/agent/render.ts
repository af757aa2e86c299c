// The agent benchmark as a section of RESULTS.md.
import type { LoadResult } from './load.ts';
import type { LoopDelay } from './loop-delay-probe.ts';

export interface AgentMeasurement {
  readonly name: string;
  readonly load: LoadResult;
  /** Of the agent's main thread, over the same time. */
  readonly loopDelay: LoopDelay;
  /** Share of the time, 0 to 1, in which the agent's prover was at work. */
  readonly provingShare: number;
}

export interface AgentResults {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly recipients: number;
  readonly measurements: readonly AgentMeasurement[];
}

function formatMs(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}

export function renderAgentResults(results: AgentResults): string {
  const rows = results.measurements.map(
    ({ name, load, loopDelay, provingShare }) =>
      `| ${[
        name,
        load.perSecond.toFixed(load.perSecond < 100 ? 1 : 0),
        load.requests,
        load.errors,
        formatMs(load.p50Ms),
        formatMs(load.p99Ms),
        formatMs(load.maxMs),
        formatMs(loopDelay.p99Ms),
        formatMs(loopDelay.maxMs),
        `${(100 * provingShare).toFixed(0)} %`,
      ].join(' | ')} |`,
  );
  return [
    '## The agent under load',
    '',
    `${results.machine}. ${results.date}. Requests of \`POST /api/validate\` with ${results.recipients} enrolled recipients each; all processes share the machine. An answer at a fixed rate is timed from the moment it was due.`,
    '',
    '| what | per second | requests | errors | p50 ms | p99 | slowest | event loop p99 | event loop max | proving |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...rows,
    '',
  ].join('\n');
}
