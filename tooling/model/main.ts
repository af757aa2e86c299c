// `pnpm model`: checks the types of the protocol's model, and every invariant in random runs.
//   pnpm model                          1,000 runs of a new seed
//   pnpm model --seed 7 --runs 5000     those runs
//   pnpm model --traces <folder>        also writes the first 20 runs there, in the Informal Trace Format
//   pnpm model --exhaustive             every state of the small model (disbursement.pml), with SPIN and gcc from the system
//   pnpm model --exhaustive --faults        each seeded fault of the small model, and the assertion that it breaks
import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkExhaustively, faults } from './exhaustive.ts';
import { assertTypes, invariants, simulate } from './quint.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1e9)) },
    runs: { type: 'string', default: '1000' },
    traces: { type: 'string' },
    exhaustive: { type: 'boolean', default: false },
    faults: { type: 'boolean', default: false },
  },
});

if (values.exhaustive) {
  const show = process.stderr.isTTY
    ? (line: string) => process.stderr.write(`${line}\n`)
    : undefined;
  for (const fault of values.faults ? faults : [undefined]) {
    const { broken, isComplete, facts } = await checkExhaustively(fault?.name, show);
    const isRight = fault === undefined ? isComplete : broken !== undefined;
    if (!isRight) process.exitCode = 1;
    const whole = isComplete ? 'every state keeps every assertion' : 'NOT every state was visited';
    const found = broken === undefined ? whole : `broken: ${broken}`;
    const title = fault === undefined ? '' : `${fault.name} (${fault.what}): `;
    process.stdout.write(`${[title + found, ...facts].join('\n  ')}\n`);
  }
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
