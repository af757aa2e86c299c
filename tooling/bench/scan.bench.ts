// Scanning sealed notes compared with opening them one by one, and the kernels' hashing compared with BigInt's: 512 notes of strangers,
// 512 of the holder's own, 512 hashes; then 100,000 notes at once, one in a hundred the holder's own.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createScanKernels } from '@pool/kernels';
import { hashPoseidonMany, openNote, poseidon, scanNotes } from '@pool/notes';
import type { BenchFile, OneRun } from './rates.ts';
import { createScanNotes, holder } from './scan-sample.ts';

const kernels = await createScanKernels();
const count = 512;
const many = 100_000;

async function scan(notes: ReturnType<typeof createScanNotes>): Promise<number> {
  let found = 0;
  for await (const { opened } of scanNotes({ ...holder, notes }, { kernels })) {
    found += opened.amount >= 0n ? 1 : 0;
  }
  return found;
}

/** The processor time of all threads is named too: other work on the machine disturbs it less than the rate. */
async function scanMany(): Promise<OneRun> {
  const notes = createScanNotes(many, 0.01);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const found = await scan(notes);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  const held = (delay.max / 1e6).toFixed(0);
  const busy = ((user + system) / 1e6).toFixed(1);
  return {
    name: `${many.toLocaleString('en')} notes in one go, ${found.toLocaleString('en')} of one's own`,
    detail: `${seconds.toFixed(1)} s; ${busy} s of processor time; calling thread held ${held} ms at most`,
    perSecond: many / seconds,
  };
}

export const bench: BenchFile = {
  title: 'notes: scanning',
  add(bench) {
    const foreign = createScanNotes(count, 0);
    const own = createScanNotes(count, 1);
    const pairs = Array.from({ length: count }, (_, index) => [BigInt(index), 7n] as const);
    bench
      .add(`${count} notes of strangers, scanned`, async () => {
        await scan(foreign);
      })
      .add(`${count} notes of one's own, scanned`, async () => {
        await scan(own);
      })
      .add("one stranger's note, opened by itself", () => {
        for (const note of foreign.slice(0, 1)) openNote({ ...holder, ...note });
      })
      .add(`${count} hashes H_2, kernels`, async () => {
        await hashPoseidonMany(kernels, pairs);
      })
      .add(`${count} hashes H_2, one by one`, () => {
        for (const pair of pairs) poseidon(pair);
      });
  },
  once: async () => [await scanMany()],
  close: () => kernels.close(),
};
