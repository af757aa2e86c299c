// Scans 100,000 sealed notes (or as many as the first argument says, the second being the part of one's own, default 1 %) and
// opens some of them one by one in the same run. Prints notes a second, the processor time of all threads (which other work on the
// machine disturbs less) and the longest time the calling thread was held.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createKernels, type KernelsOptions } from '@pool/kernels';
import { openNote, scanNotes } from '@pool/notes';
import { createScanNotes, holder } from './scan-sample.ts';

const [count = 100_000, ownPart = 0.01] = process.argv.slice(2, 4).map(Number);
const multiplier = process.argv[4] === 'integer' ? 'integer' : 'auto';
const options: KernelsOptions = { multiplier };

const notes = createScanNotes(count, ownPart);
const kernels = await createKernels(options);
const delay = monitorEventLoopDelay({ resolution: 1 });
const measure = async (): Promise<{ readonly found: number; readonly seconds: number }> => {
  const started = performance.now();
  let found = 0;
  for await (const { opened } of scanNotes({ ...holder, notes }, { kernels })) {
    found += opened.amount >= 0n ? 1 : 0;
  }
  return { found, seconds: (performance.now() - started) / 1000 };
};

process.stdout.write(`${kernels.detail}; ${count} notes, ${100 * ownPart} % of one's own\n`);
delay.enable();
const before = process.cpuUsage();
const { found, seconds } = await measure();
const { user, system } = process.cpuUsage(before);
delay.disable();
const rate = count / seconds;
process.stdout.write(
  `scan: ${seconds.toFixed(2)} s, ${Math.round(rate)} notes a second, ${found} found; ${((user + system) / 1e6).toFixed(2)} s of processor time; calling thread held ${(delay.max / 1e6).toFixed(0)} ms at most\n`,
);
const sample = notes.slice(0, 300);
const began = performance.now();
let opened = 0;
for (const note of sample) if (openNote({ ...holder, ...note }) !== undefined) opened += 1;
const single = (1000 * sample.length) / (performance.now() - began);
process.stdout.write(
  `openNote: ${Math.round(single)} notes a second (${opened} of ${sample.length} opened); scan is ${(rate / single).toFixed(0)} times as fast\n`,
);
await kernels.close();
