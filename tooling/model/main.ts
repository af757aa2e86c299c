// `pnpm model`: checks the types of the protocol's model, and every invariant in random runs.
//   pnpm model                          1,000 runs of a new seed
//   pnpm model --seed 7 --runs 5000     those runs
//   pnpm model --traces <folder>        also writes the first 20 runs there, in the Informal Trace Format
//   pnpm model --exhaustive             every state of the small model (disbursement.pml), with SPIN and gcc from the system
//   pnpm model --exhaustive --fault FENCE_FAULT    or LEADER_FAULT: the assertion that a seeded fault breaks
import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkExhaustively } from './exhaustive.ts';
import { assertTypes, invariants, simulate } from './quint.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1e9)) },
    runs: { type: 'string', default: '1000' },
    traces: { type: 'string' },
    fault: { type: 'string' },
    exhaustive: { type: 'boolean', default: false },
  },
});

if (values.exhaustive) {
  for (const line of await checkExhaustively(values.fault)) process.stdout.write(`${line}\n`);
} else {
  await assertTypes();
  const folder = values.traces === undefined ? undefined : resolve(values.traces);
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const [seed, samples] = [Number(values.seed), Number(values.runs)];
  const traces = folder === undefined ? {} : { traces: 20, keptIn: folder };
  const { broken, output } = await simulate({ seed, samples, steps: 100, ...traces });
  process.stdout.write(
    broken.length === 0
      ? `${samples} runs of seed ${seed} keep ${invariants.length} invariants\n`
      : `${output}\nseed ${seed}: ${broken.join(', ')}\n`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
}
