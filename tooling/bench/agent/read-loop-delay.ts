// Asks the probe in a measured process for its figures.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { LoopDelay } from './loop-delay-probe.ts';

/** Since the last call; the probe answers through a file. */
export async function readLoopDelay(pid: number, file: string): Promise<LoopDelay> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const deadline = performance.now() + 10_000;
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error('the probe in the process does not answer');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // Written by the probe beside this file.
  return JSON.parse(readFileSync(file, 'utf8')) as LoopDelay;
}
