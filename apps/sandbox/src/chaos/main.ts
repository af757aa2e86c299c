/**
 * `pnpm chaos [--minutes 1] [--seed <number>]`: kills and freezes the processes of a deployment while it pays, and checks afterwards that
 * everybody was paid once.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
const seconds = Number(values.minutes) * 60;
if (!Number.isInteger(seed) || !(seconds > 0)) {
  process.stderr.write('--seed takes a whole number, --minutes a number above 0\n');
  process.exit(2);
}
process.stderr.write(`seed ${seed}\n`);
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
const report = await runChaos({ seed, seconds, say });
process.stdout.write(`${JSON.stringify({ seed, seconds, ...report }, undefined, 2)}\n`);
process.exitCode = report.violations.length === 0 ? 0 : 1;
