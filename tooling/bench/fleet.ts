// `pnpm bench fleet [--proofs 16]`: how many proofs of 16 payees an hour 1, 2 and 4 `disburse-agent prover` processes make through the
// queue, beside the ideal. Each process is pinned to a core (taskset of Linux), so that every prover has the same share as on a machine
// of its own; if there are more provers than cores, several share one, and the ideal is that of the cores. Beside other work the rates
// mean little; the provers' processor time for a proof still shows what the queue and the neighbours cost.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  createFleetAgent,
  createInput,
  type FleetPlace,
  startFleetServer,
  startProverProcess,
} from '../../apps/agent/src/fixtures/fleet-world.ts';
import { openProofQueue } from '../../apps/agent/src/services/fleet/proof-queue.ts';
import { createStamp } from './results.ts';
import { saveSection } from './results-store.ts';

const sizes = [1, 2, 4];
/** The fixture has so many different batches. */
const batches = 16;

/** Runs the benchmark with the options of the command line. */
export async function runFleetBench(args: readonly string[]): Promise<void> {
  const options = { proofs: { type: 'string', default: '16' } } as const;
  const proofs = Number(parseArgs({ args: [...args], options }).values.proofs);
  const cores = availableParallelism();
  const [loadBefore = 0] = loadavg();
  const runs: Run[] = [];
  const server = await startFleetServer();
  try {
    for (const size of sizes) {
      process.stderr.write(`${size} provers\n`);
      const place = await server.createPlace();
      runs.push(await measure(place, { size, proofs, cores }));
    }
  } finally {
    await server.stop();
  }
  const [loadAfter = 0] = loadavg();
  const one = proofs / (runs[0]?.seconds ?? 0);
  saveSection('fleet', {
    title: 'A fleet of provers',
    ...createStamp(),
    about: `${proofs} proofs of 16 payees, sent at once through the queue, by processes with one core each, warm. From the first task to the last verified proof. The ideal is the rate of one prover times the cores in use. Load average ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after the run.`,
    tables: [
      {
        columns: [
          ...['provers', 'cores', 'seconds', 'proofs an hour', 'ideal', 'of the ideal'],
          'processor s a proof',
        ],
        rows: runs.map(({ size, seconds, processorSeconds }) => {
          const used = Math.min(size, cores);
          const rate = proofs / seconds;
          return [
            String(size),
            String(used),
            seconds.toFixed(1),
            (3_600 * rate).toFixed(0),
            (3_600 * one * used).toFixed(0),
            `${((100 * rate) / (one * used)).toFixed(0)} %`,
            (processorSeconds / proofs).toFixed(2),
          ];
        }),
      },
    ],
  });
}

interface Run {
  readonly size: number;
  readonly seconds: number;
  /** Of the provers. */
  readonly processorSeconds: number;
}

/** Linux counts the time of a process in hundredths of a second. */
function readProcessorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measure(
  place: FleetPlace,
  {
    size,
    proofs,
    cores,
  }: { readonly size: number; readonly proofs: number; readonly cores: number },
): Promise<Run> {
  const home = mkdtempSync(join(tmpdir(), 'pool-bench-fleet-'));
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const queue = await openProofQueue({ ...place, manifest: undefined, role: 'agent', log });
  const agent = createFleetAgent({ ...place, queue, log });
  const provers = await Promise.all(
    Array.from({ length: size }, (_, index) =>
      startProverProcess(place, { name: `prover-${index}`, home, core: index % cores }),
    ),
  );
  const prove = async (count: number): Promise<unknown> =>
    await Promise.all(
      Array.from({ length: Math.min(count, batches) }, async (_, first) => {
        for (let index = first; index < count; index += batches) {
          await agent.prove({ circuit: 'fund-16', input: createInput(first + 1) });
        }
      }),
    );
  try {
    // Every prover has read its key by then.
    await prove(2 * size);
    const readAll = (): number =>
      provers.reduce((sum, { identity }) => sum + readProcessorSeconds(identity.pid), 0);
    const [startedAtMs, before] = [performance.now(), readAll()];
    await prove(proofs);
    const seconds = (performance.now() - startedAtMs) / 1_000;
    return { size, seconds, processorSeconds: readAll() - before };
  } finally {
    await Promise.all(provers.map((prover) => prover.kill()));
    await agent.close();
    rmSync(home, { recursive: true, force: true });
  }
}
