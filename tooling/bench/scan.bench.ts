// Scanning sealed notes beside opening them one by one, and the kernels' hashing beside BigInt's: 512 notes of strangers,
// 512 of the holder's own, 512 hashes. `node scan-many.ts` beside this file measures 100,000 notes.
import { createKernels } from '@pool/kernels';
import { hashPoseidonMany, openNote, poseidon, scanNotes } from '@pool/notes';
import type { BenchFile } from './bench-file.ts';
import { createScanNotes, holder } from './scan-sample.ts';

const kernels = await createKernels();
const count = 512;

export const bench: BenchFile = {
  title: 'notes: scanning',
  add(bench) {
    const foreign = createScanNotes(count, 0);
    const own = createScanNotes(count, 1);
    const pairs = Array.from({ length: count }, (_, index) => [BigInt(index), 7n] as const);
    const scan = async (notes: typeof own) => {
      for await (const { index } of scanNotes({ ...holder, notes }, { kernels })) {
        if (index < 0) throw new RangeError('no such note');
      }
    };
    bench
      .add(`${count} notes of strangers, scanned`, () => scan(foreign))
      .add(`${count} notes of one's own, scanned`, () => scan(own))
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
  close: () => kernels.close(),
};
