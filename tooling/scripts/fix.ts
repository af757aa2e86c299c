// `pnpm fix`: repairs everything that `pnpm check` reports and that a tool can repair.
import { join, resolve } from 'node:path';
import { findForge } from '../../packages/contracts/scripts/forge.ts';
import { run } from '../src/processes.ts';

const root = resolve(import.meta.dirname, '../..');
function bin(name: string): string {
  return join(root, 'node_modules/.bin', name);
}
const contracts = join(root, 'packages/contracts');

const steps: readonly { readonly name: string; readonly run: () => Promise<{ status: number }> }[] =
  [
    {
      name: 'eslint',
      run: () => run(bin('eslint'), ['--fix', '.'], { cwd: root, output: 'inherit' }),
    },
    {
      name: 'biome',
      run: () => run(bin('biome'), ['check', '--write', '.'], { cwd: root, output: 'inherit' }),
    },
    {
      name: 'forge fmt',
      run: () => run(findForge(), ['fmt'], { cwd: contracts, output: 'inherit' }),
    },
    {
      name: 'generated files',
      run: () =>
        run(bin('turbo'), ['run', 'generate', '--output-logs=new-only'], {
          cwd: root,
          env: { DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' },
          output: 'inherit',
        }),
    },
  ];

for (const step of steps) {
  process.stdout.write(`── ${step.name}\n`);
  const { status } = await step.run();
  if (status !== 0) process.exitCode = 1;
}
