// Bytes of Blobs, URLs and streams without a proof: any place of them, and no copy of a secret that stays.
import { expect, it, onTestFinished, vi } from 'vitest';
import { openFile } from './file-input.ts';

it('copies of a witness are wiped', async () => {
  const secret = new Uint8Array([7, 7, 7]);
  const copies: Uint8Array[] = [];
  const { arrayBuffer } = Blob.prototype;
  const spy = vi.spyOn(Blob.prototype, 'arrayBuffer').mockImplementation(async function (
    this: Blob,
  ) {
    const buffer = await arrayBuffer.call(this);
    copies.push(new Uint8Array(buffer));
    return buffer;
  });
  onTestFinished(() => spy.mockRestore());
  const into = new Uint8Array(3);
  await (await openFile(new Blob([secret]), 'witness')).read(0, into);
  expect(into).toEqual(secret);

  const fetched = (...ends: ((stream: ReadableStreamDefaultController<Uint8Array>) => void)[]) => {
    const chunk = secret.slice();
    copies.push(chunk);
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(chunk),
      pull: (stream) => {
        for (const end of ends) end(stream);
      },
    });
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(body)));
  };
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  fetched((stream) => stream.close());
  const source = await openFile('https://witness.example/a.wtns', 'witness');
  await source.read(0, into);
  expect(into).toEqual(secret);
  await source.close();
  fetched((stream) => stream.error(new Error('cut')));
  await expect(openFile('https://witness.example/a.wtns', 'witness')).rejects.toMatchObject({
    code: 'artifact_unreadable',
  });
  expect(copies).toEqual([new Uint8Array(3), new Uint8Array(3), new Uint8Array(3)]);
});

it('chunks give the same bytes at any place', async () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);
  const ends = [0, 1, 1, 31, 38, 38, 100];
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const [i, end] of ends.entries()) controller.enqueue(bytes.slice(ends[i - 1] ?? 0, end));
      controller.close();
    },
  });
  const source = await openFile(stream, 'proving key');
  expect(source.size).toBe(100);
  for (let start = 0; start <= 100; start++) {
    for (const length of [0, 1, 8, 40, 100 - start].filter((each) => start + each <= 100)) {
      const into = new Uint8Array(length);
      await source.read(start, into);
      expect(into).toEqual(bytes.subarray(start, start + length));
    }
  }
  await expect(source.read(99, new Uint8Array(2))).rejects.toMatchObject({
    code: 'zkey_malformed',
  });
});
