// `pnpm fix`: repairs everything that `pnpm check` reports and that a tool can repair.
import { join, resolve } from 'node:path';
import { findForge } from '../../packages/contracts/scripts/forge.ts';
import { run } from '../src/processes.ts';

const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'node_modules/.bin');
const env = { DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' };

type Step = readonly [command: () => string, args: readonly string[], folder?: string];
const steps: readonly Step[] = [
  [() => join(bin, 'eslint'), ['--fix', '.']],
  [() => join(bin, 'biome'), ['check', '--write', '.']],
  [findForge, ['fmt'], 'packages/contracts'],
  [() => join(bin, 'turbo'), ['run', 'generate', '--output-logs=new-only']],
];

for (const [find, args, folder = ''] of steps) {
  const command = find();
  process.stdout.write(`── ${command} ${args.join(' ')}\n`);
  const { status } = await run(command, args, { cwd: join(root, folder), env, output: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
