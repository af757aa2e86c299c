/**
 * Visits every state of the small model (disbursement.pml) with SPIN: `apt-get install -y spin gcc`.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../src/processes.ts';

const file = join(import.meta.dirname, 'disbursement.pml');

/** Apart, because both together have more states: agents with one relayer, and both relayers with batches that are at the platform. */
const parts = {
  agents: ['-DRELAYERS=1'],
  relayers: ['-DARE_ACCEPTED=1', '-DLEASES=1'],
};

/**
 * @param fault - a macro of the model that seeds a fault: `FENCE_FAULT`, `APPROVE_FAULT` (agents) or `LEADER_FAULT` (relayers)
 * @returns what SPIN says, in lines: the states, the time, the memory, and the assertion that a state breaks
 * @throws Error when spin or gcc is missing
 */
export async function checkExhaustively(fault?: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pool-spin-'));
  const must = async (command: string, args: readonly string[]): Promise<string> => {
    const { status, combined } = await run(command, args, { cwd: folder, output: 'collect' });
    if (status !== 0) {
      throw new Error(`${command} failed (apt-get install -y spin gcc):\n${combined}`);
    }
    return combined;
  };
  const lines: string[] = [];
  try {
    for (const [part, options] of Object.entries(parts)) {
      const faults = fault === undefined ? [] : [`-D${fault}=1`];
      await must('spin', ['-a', ...options, ...faults, file]);
      // One process: nothing can be reordered. States are stored as hashes of 96 bits, in 8 GB at most.
      const flags = ['-O2', '-w', '-DSAFETY', '-DNOREDUCE', '-DHC4', '-DMEMLIM=8000'];
      await must('gcc', [...flags, '-o', 'pan', 'pan.c']);
      // Its status says whether it saw every state. So do its lines.
      const { combined } = await run('./pan', ['-m10000000', '-w27', '-n'], {
        cwd: folder,
        output: 'collect',
      });
      const facts = /assertion violated|errors:|states, stored|elapsed|reached/;
      lines.push(part, ...combined.split('\n').filter((line) => facts.test(line)));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return lines;
}
