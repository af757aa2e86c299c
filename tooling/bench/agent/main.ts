// `pnpm bench agent [--seconds 60] [--rate 20] [--recipients 64]`: how many dry runs an agent answers per second, requested with the
// loopback token and with an API key, which the platform verifies each time, compared with its cheapest route; and whether it continues
// to answer, and how late its event loop is, while it proves payments on the same cores. A whole deployment of real processes.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseBatchSize } from '@pool/core';
import { agentScript } from '../../../apps/sandbox/src/processes/agent-process.ts';
import { ensureProvingKey } from '../../../apps/sandbox/src/processes/artifacts.ts';
import { createProgress } from '../../../apps/sandbox/src/processes/progress.ts';
import { type Stack, startStack } from '../../../apps/sandbox/src/stack/stack.ts';
import { createStamp } from '../results.ts';
import { saveSection } from '../results-store.ts';
import { fetchBusySeconds } from './busy-seconds.ts';
import { type Call, callAtRate, callAtWill, type LoadResult } from './load.ts';
import type { LoopDelay } from './loop-delay-probe.ts';

/** For the measurements without a fixed rate: as many callers as keep the agent busy. */
const callers = 4;
const secondsAtWill = 10;
/** More proofs than fit into the measured time. */
const paymentsAhead = 40;

interface Options {
  readonly seconds: number;
  readonly rate: number;
  readonly recipients: number;
}

/** Runs the benchmark with the options of the command line. */
export async function runAgentBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '60' },
      rate: { type: 'string', default: '20' },
      recipients: { type: 'string', default: '64' },
    },
  });
  const [seconds, rate] = [Number(values.seconds), Number(values.rate)];
  const recipients = Number(values.recipients);
  const progress = createProgress({ stream: process.stderr, plainLines: false });
  const size = chooseBatchSize(recipients);
  if (size === undefined) throw new Error('no circuit holds so many recipients');
  await ensureProvingKey(`fund-${size}`, progress);

  const directory = mkdtempSync(join(tmpdir(), 'pool-bench-agent-'));
  const probeFile = join(directory, 'loop-delay.json');
  const stack = await startStack({
    directory,
    holderCount: recipients,
    onStep: progress.step,
    agentEnvironment: {
      DISBURSE_ACCELERATOR: 'cpu',
      // The capacity of the agent is measured, not its limits.
      DISBURSE_RATE_LIMIT: '100000',
      NODE_OPTIONS: `--import=${import.meta.dirname}/loop-delay-probe.ts`,
      BENCH_PROBE_FILE: probeFile,
      BENCH_PROBE_PROGRAM: agentScript,
    },
  });
  try {
    progress.step('measuring');
    const rows = await measure(stack, { seconds, rate, recipients }, probeFile);
    const timed = ['p50 ms', 'p99', 'slowest', 'event loop p99', 'event loop max', 'proving'];
    saveSection('agent', {
      title: 'The agent under load',
      ...createStamp(),
      about: `Requests of \`POST /api/validate\` with ${recipients} enrolled recipients each; all processes share the machine. An answer at a fixed rate is timed from the moment it was due.`,
      tables: [{ columns: ['what', 'per second', 'requests', 'errors', ...timed], rows }],
    });
  } finally {
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(
  stack: Stack,
  { seconds, rate, recipients }: Options,
  probeFile: string,
): Promise<string[][]> {
  const { agent, employer } = stack;
  const payment = JSON.stringify({
    token: 'USDC',
    recipients: stack.holders
      .slice(0, recipients)
      .map(({ address }) => ({ recipientAddress: address, amount: '1' })),
  });
  const headersOf = (token: string): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  });
  const validateWith =
    (token: string): Call =>
    async () => {
      const headers = headersOf(token);
      const sent = { method: 'POST', headers, body: payment };
      const response = await fetch(`${agent.url}/api/validate`, sent);
      // Written by the agent itself; anything else is an error.
      const report = (await response.json()) as { ok?: boolean };
      return response.status === 200 && report.ok === true;
    };
  const live: Call = async () => {
    const response = await fetch(`${agent.url}/api/livez`);
    await response.arrayBuffer();
    return response.status === 200;
  };
  const byLoopback = validateWith(agent.loopbackToken);
  const byKey = validateWith(employer.apiKeys.disburse);

  const rows: string[][] = [];
  const formatMs = (ms: number): string => ms.toFixed(ms < 100 ? 1 : 0);
  const record = async (name: string, run: () => Promise<LoadResult>): Promise<void> => {
    await readLoopDelay(agent.process.identity.pid, probeFile);
    const [busyBefore, started] = [await fetchBusySeconds(stack), performance.now()];
    const load = await run();
    const elapsed = (performance.now() - started) / 1000;
    const loop = await readLoopDelay(agent.process.identity.pid, probeFile);
    const provingShare = ((await fetchBusySeconds(stack)) - busyBefore) / elapsed;
    const row = [
      name,
      load.perSecond.toFixed(load.perSecond < 100 ? 1 : 0),
      String(load.requests),
      String(load.errors),
      ...[load.p50Ms, load.p99Ms, load.maxMs, loop.p99Ms, loop.maxMs].map(formatMs),
      `${(100 * provingShare).toFixed(0)} %`,
    ];
    rows.push(row);
    process.stdout.write(`  ${row.join(' | ')}\n`);
  };
  const atWill = (call: Call) => () => callAtWill(call, { callers, seconds: secondsAtWill });
  const atRate = (call: Call) => () => callAtRate(call, { perSecond: rate, seconds });

  await record('validate, the first', () => callAtRate(byLoopback, { perSecond: 1, seconds: 1 }));
  await record(`livez, ${callers} callers at will`, atWill(live));
  await record(`validate by loopback token, ${callers} callers at will`, atWill(byLoopback));
  await record(`validate by API key, ${callers} callers at will`, atWill(byKey));

  for (let index = 0; index < paymentsAhead; index += 1) {
    const response = await fetch(`${agent.url}/api/disburse`, {
      method: 'POST',
      headers: { ...headersOf(agent.loopbackToken), 'idempotency-key': `load-${index}` },
      body: payment,
    });
    if (response.status !== 202) throw new Error(`a payment was answered ${response.status}`);
  }
  await record(`validate by loopback token, ${rate} a second during proofs`, atRate(byLoopback));
  await record(`validate by API key, ${rate} a second during proofs`, atRate(byKey));
  return rows;
}

/** The probe's figures since the last call; it answers through a file. */
async function readLoopDelay(pid: number, file: string): Promise<LoopDelay> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const deadline = performance.now() + 10_000;
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error('the probe in the process does not answer');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // Written by the probe beside this file.
  return JSON.parse(readFileSync(file, 'utf8')) as LoopDelay;
}
