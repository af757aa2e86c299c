// `pnpm bench platform [--seconds 60] [--settlements 50] [--sign-ins 10] [--minutes 10] [--only TEXT]`: whether people can sign in while employers hand
// over settlements of 256: new ones, which are stored and sent to the chain, the same ones again, and ones with an invalid proof.
// A real platform process over HTTP, a real chain whose verifiers accept every proof. `--settlements` is per minute, `--sign-ins` per
// second. Each scenario is one function in `scenarios` and measures with `measure`. Before them the hostile tenant runs, for
// `--minutes`, on its own deployment (hostile.ts); `--only hostile` runs that alone and keeps its results, `--minutes 0` leaves it out.
// `--only batches` measures sign-ins beside a stranger who reads `/agent-edge/batches` in 64 loops (stranger.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SettlementRequest } from '@pool/api';
import { createProgress } from '../../../apps/sandbox/src/processes/progress.ts';
import {
  type PlatformAlone,
  platformScript,
  startPlatformAlone,
} from '../../../apps/sandbox/src/stack/platform-alone.ts';
import { type Call, callAtRate, type LoadResult } from '../agent/load.ts';
import { readLoopDelay } from '../agent/read-loop-delay.ts';
import { describeMachine } from '../machine.ts';
import { savePlatformResults } from '../results-store.ts';
import { runHostileBench } from './hostile.ts';
import { createBatchMaker } from './made-up-batches.ts';
import type { PlatformMeasurement } from './render.ts';
import { loadAsStranger } from './stranger.ts';
import { createTrapdoorKeys } from './trapdoor-keys.ts';

export interface Bench {
  readonly platform: PlatformAlone;
  /** Each from its own employer. */
  readonly edgeTokens: readonly string[];
  readonly settlements: readonly SettlementRequest[];
  readonly seconds: number;
  readonly perMinute: number;
  readonly signInsPerSecond: number;
  /** Runs loads side by side and notes each with the event loop's delay over that time. */
  measure(loads: Readonly<Record<string, () => Promise<LoadResult>>>): Promise<void>;
}

type Scenario = (bench: Bench) => Promise<void>;

/** Employers on a payday: each stays within its limit. */
const employers = 5;

/** Batches of 256 that a stranger reads: three full pages, and one that is not. */
const readBatches = 50;

const scenarios: Readonly<Record<string, Scenario>> = {
  alone: (bench) =>
    bench.measure({ [`sign-ins, ${bench.signInsPerSecond} a second`]: signIns(bench) }),
  payday: async (bench) => {
    await withSignIns(bench, 'new', (index) => post(bench, index, settlementOf(bench, index), 202));
    await assertSettled(bench, Math.ceil((bench.perMinute * bench.seconds) / 60));
  },
  replays: (bench) =>
    withSignIns(bench, 'repeated', (index) => post(bench, index, settlementOf(bench, index), 200)),
  refusals: (bench) =>
    withSignIns(bench, 'proof does not hold', async (index) => {
      const settlement = settlementOf(bench, bench.settlements.length - 1 - index);
      const proof = settlementOf(bench, 0).proof;
      return await post(bench, index, { ...settlement, proof }, 400, 'refused');
    }),
  batches: async (bench) => {
    for (let index = 0; index < readBatches; index += 1) {
      await post(bench, index, settlementOf(bench, index), 202);
    }
    await assertSettled(bench, readBatches);
    const { platform, seconds } = bench;
    const keys = await platform.openStranger();
    for (const loops of [4, 64]) {
      const work = { url: platform.url, chain: platform.chain, keys, loops, seconds };
      await bench.measure({
        [`/agent-edge/batches, a stranger in ${loops} loops`]: async () => {
          const { load, statuses } = await loadAsStranger({ ...work, leaves: readBatches });
          process.stdout.write(`  answers by status: ${JSON.stringify(statuses)}\n`);
          return load;
        },
        [`sign-ins beside ${loops} loops`]: signIns(bench),
      });
    }
  },
};

/** Runs the benchmark with the options of the command line. */
export async function runPlatformBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '60' },
      settlements: { type: 'string', default: '50' },
      'sign-ins': { type: 'string', default: '10' },
      minutes: { type: 'string', default: '10' },
      only: { type: 'string', default: '' },
    },
  });
  const [seconds, perMinute] = [Number(values.seconds), Number(values.settlements)];
  const progress = createProgress({ stream: process.stderr, plainLines: false });
  const minutes = Number(values.minutes);
  if ((values.only === '' && minutes > 0) || values.only === 'hostile') {
    await runHostileBench(minutes, progress.step);
  }
  if (values.only === 'hostile') return;
  const directory = mkdtempSync(join(tmpdir(), 'pool-bench-platform-'));
  const probeFile = join(directory, 'loop-delay.json');
  const keys = await createTrapdoorKeys(join(directory, 'keys'));
  const platform = await startPlatformAlone({
    directory,
    onStep: progress.step,
    environment: {
      ...keys.environment,
      NODE_OPTIONS: `--import=${join(import.meta.dirname, '../agent/loop-delay-probe.ts')}`,
      BENCH_PROBE_FILE: probeFile,
      BENCH_PROBE_PROGRAM: platformScript,
    },
  });
  const maker = await createBatchMaker(platform, keys);
  try {
    progress.step('opening employers');
    const edgeTokens: string[] = [];
    for (let index = 0; index < employers; index += 1) {
      edgeTokens.push(await platform.openEmployer(index));
    }
    progress.step('making settlements');
    // More than are stored, because refused ones must be unknown to the platform.
    const settlements: SettlementRequest[] = [];
    const count = Math.max(Math.ceil((perMinute * seconds) / 60), readBatches);
    while (settlements.length < 2 * count) settlements.push(await maker.make());
    const measurements: PlatformMeasurement[] = [];
    progress.step('measuring');
    const bench: Bench = {
      platform,
      edgeTokens,
      settlements,
      seconds,
      perMinute,
      signInsPerSecond: Number(values['sign-ins']),
      async measure(loads) {
        await readLoopDelay(platform.pid, probeFile);
        const found = await Promise.all(
          Object.entries(loads).map(async ([name, load]) => ({ name, load: await load() })),
        );
        const loopDelay = await readLoopDelay(platform.pid, probeFile);
        for (const one of found) {
          measurements.push({ ...one, loopDelay });
          process.stdout.write(
            `  ${one.name}: ${one.load.requests} requests, ${one.load.errors} errors, p99 ${one.load.p99Ms.toFixed(1)} ms; ` +
              `event loop p99 ${loopDelay.p99Ms.toFixed(1)} ms, max ${loopDelay.maxMs.toFixed(1)} ms; one turn p99 ${loopDelay.busyP99Ms?.toFixed(1)} ms, max ${loopDelay.busyMaxMs?.toFixed(1)} ms\n`,
          );
        }
      },
    };
    for (const [name, scenario] of Object.entries(scenarios)) {
      if (name.includes(values.only)) await scenario(bench);
    }
    const date = new Date().toISOString().slice(0, 10);
    // A part of the table would hide the rest.
    if (values.only === '') {
      const [loadAverage = 0] = loadavg();
      savePlatformResults({ machine: describeMachine(), date, loadAverage, measurements });
    }
  } finally {
    await Promise.all([platform.stop(), maker.close(), keys.close()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

function signIns(bench: Bench) {
  return (): Promise<LoadResult> => {
    let index = 0;
    const call: Call = async () => {
      index += 1;
      await bench.platform.signIn(index);
      return true;
    };
    return callAtRate(call, { perSecond: bench.signInsPerSecond, seconds: bench.seconds });
  };
}

async function withSignIns(
  bench: Bench,
  what: string,
  hand: (index: number) => Promise<boolean>,
): Promise<void> {
  const { perMinute, seconds } = bench;
  let index = -1;
  const call: Call = () => {
    index += 1;
    return hand(index);
  };
  await bench.measure({
    [`settlements of 256, ${perMinute} a minute, ${what}`]: () =>
      callAtRate(call, { perSecond: perMinute / 60, seconds }),
    'sign-ins at the same time': signIns(bench),
  });
}

function settlementOf({ settlements }: Bench, index: number): SettlementRequest {
  const settlement = settlements[index];
  if (settlement === undefined) throw new Error('too few settlements were made');
  return settlement;
}

function keyOf(index: number, label: string): string {
  return `${label}-${index}`;
}

async function post(
  { platform, edgeTokens }: Bench,
  index: number,
  settlement: SettlementRequest,
  status: number,
  label = 'pay',
): Promise<boolean> {
  const response = await fetch(`${platform.url}/agent-edge/settlements`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${edgeTokens[index % edgeTokens.length] ?? ''}`,
      'content-type': 'application/json',
      'idempotency-key': keyOf(index, label),
    },
    body: JSON.stringify(settlement),
  });
  await response.arrayBuffer();
  return response.status === status;
}

/** Every one that was stored is paid. */
async function assertSettled({ platform, edgeTokens }: Bench, count: number): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (let index = 0; index < count; index += 1) {
    for (;;) {
      const url = `${platform.url}/agent-edge/settlements/${keyOf(index, 'pay')}`;
      const authorization = `Bearer ${edgeTokens[index % edgeTokens.length] ?? ''}`;
      const response = await fetch(url, { headers: { authorization } });
      await response.arrayBuffer();
      if (response.status === 200) break;
      if (performance.now() > deadline) throw new Error(`settlement ${index} did not settle`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
