// `pnpm bench fleet [--proofs 16]`: how many proofs of 16 payees an hour 1, 2 and 4 `disburse-agent prover` processes make through the
// queue, beside the ideal. Each process is pinned to a core (taskset of Linux), so that every prover has the same share as on a machine
// of its own; if there are more provers than cores, several share one, and the ideal is that of the cores.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@pool/testkit';
import {
  createFleetAgent,
  createFleetPlace,
  createInput,
  type FleetPlace,
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
  const seconds: number[] = [];
  const server = await startPostgres();
  try {
    for (const size of sizes) {
      process.stderr.write(`${size} provers\n`);
      const place = await createFleetPlace(await server.createDatabase());
      seconds.push(await measure(place, { size, proofs, cores }));
    }
  } finally {
    await server.stop();
  }
  const [loadAfter = 0] = loadavg();
  const one = proofs / (seconds[0] ?? 0);
  saveSection('fleet', {
    title: 'A fleet of provers',
    ...createStamp(),
    about: `${proofs} proofs of 16 payees, sent at once through the queue, by processes with one core each, warm. From the first task to the last verified proof. The ideal is the rate of one prover times the cores in use. Load average ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after the run.`,
    tables: [
      {
        columns: ['provers', 'cores', 'seconds', 'proofs an hour', 'ideal', 'of the ideal'],
        rows: sizes.map((size, index) => {
          const used = Math.min(size, cores);
          const rate = proofs / (seconds[index] ?? 0);
          return [
            String(size),
            String(used),
            (proofs / rate).toFixed(1),
            (3_600 * rate).toFixed(0),
            (3_600 * one * used).toFixed(0),
            `${((100 * rate) / (one * used)).toFixed(0)} %`,
          ];
        }),
      },
    ],
  });
}

/** @returns seconds for all proofs */
async function measure(
  place: FleetPlace,
  {
    size,
    proofs,
    cores,
  }: { readonly size: number; readonly proofs: number; readonly cores: number },
): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'pool-bench-fleet-'));
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const { settings, recipient } = place;
  const queue = await openProofQueue({ settings, manifest: undefined, role: 'agent', log });
  const agent = createFleetAgent({ queue, recipient, log });
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
    const startedAtMs = performance.now();
    await prove(proofs);
    return (performance.now() - startedAtMs) / 1_000;
  } finally {
    await Promise.all(provers.map((prover) => prover.kill()));
    await agent.close();
    rmSync(home, { recursive: true, force: true });
  }
}
