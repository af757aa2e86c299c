/**
 * Visits every state of the small model (disbursement.pml) with SPIN: `apt-get install -y spin gcc`.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../src/processes.ts';

const file = join(import.meta.dirname, 'disbursement.pml');

/** The faults that the model can have: its constants with a comment that says what is wrong. */
export const faults = [
  ...readFileSync(file, 'utf8').matchAll(/^#define (\w+) \d+ \/\* fault: (.*) \*\/$/gm),
].map(([, name = '', what = '']) => ({ name, what }));

export type Search = {
  /** The assertion that a state breaks. The search ends there. */
  readonly broken: string | undefined;
  /** Whether every state was visited without a broken assertion, and every action happened. */
  readonly isComplete: boolean;
  /** States, seconds and memory; then why it is not complete. */
  readonly facts: readonly string[];
};

/**
 * @param fault - the name of a seeded fault
 * @param onProgress - gets a line for each million of states
 * @throws Error when spin or gcc is missing
 */
export async function checkExhaustively(
  fault?: string,
  onProgress: (line: string) => void = () => undefined,
): Promise<Search> {
  const folder = mkdtempSync(join(tmpdir(), 'pool-spin-'));
  const must = async (command: string, args: readonly string[]): Promise<void> => {
    const { status, combined } = await run(command, args, { cwd: folder, output: 'collect' });
    if (status !== 0) {
      throw new Error(`${command} failed (apt-get install -y spin gcc):\n${combined}`);
    }
  };
  try {
    await must('spin', ['-a', ...(fault === undefined ? [] : [`-DFAULT=${fault}`]), file]);
    // Every step is atomic and reads shared variables: nothing can be reordered. States are stored whole, not as hashes.
    const flags = ['-DSAFETY', '-DNOREDUCE', '-DMEMLIM=6000'];
    await must('gcc', ['-O1', '-w', ...flags, '-o', 'pan', 'pan.c']);
    // -E: a state from which nothing happens is no error.
    const { status, combined } = await run('./pan', ['-E', '-m1000000', '-w24'], {
      cwd: folder,
      output: 'collect',
      onText: (text) => {
        for (const line of text.match(/^Depth=.*/gm) ?? []) onProgress(line);
      },
    });
    const find = (pattern: RegExp): string | undefined => pattern.exec(combined)?.[1];
    const gaps = [
      ...(combined.match(/^.*(?:not completed|too small|MEMLIM|ended by).*$/gm) ?? []),
      ...(combined.match(/\S+:\d+, state \d+, "(?!-end-).*/g) ?? []).map(
        (action) => `never happens: ${action}`,
      ),
    ];
    const states = find(/(\d+) states, stored/);
    const [seconds, megabytes] = [find(/elapsed time (\S+)/), find(/(\S+)\s+total actual/)];
    return {
      broken: find(/assertion violated (.*)/),
      isComplete: status === 0 && gaps.length === 0 && /errors: 0$/m.test(combined),
      facts:
        states === undefined
          ? [combined]
          : [`${states} states, ${seconds} seconds, ${megabytes} MB`, ...gaps],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
