// Files as one ZIP, read back by the same library and, for its bytes, by the signatures of the format.
import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { streamZip } from './zip.ts';

it('has every file, and ends what made them', async () => {
  async function* files() {
    yield { name: 'one.txt', content: 'é' };
    yield { name: 'two.bin', content: new Uint8Array([1, 2, 3]) };
  }
  let ended = 0;
  const zip = streamZip(files(), () => {
    ended += 1;
  });
  const bytes = new Uint8Array(await new Response(zip).arrayBuffer());
  const read = unzipSync(bytes);
  expect(Object.keys(read)).toEqual(['one.txt', 'two.bin']);
  expect([Buffer.from(read['one.txt'] ?? []).toString(), read['two.bin']]).toEqual([
    'é',
    new Uint8Array([1, 2, 3]),
  ]);
  expect(ended).toBe(1);
});

it('breaks the download when a file cannot be made, and ends when the reader leaves', async () => {
  async function* broken() {
    yield { name: 'one.txt', content: '1' };
    throw new Error('no RPC');
  }
  let ended = 0;
  const onEnd = () => {
    ended += 1;
  };
  await expect(new Response(streamZip(broken(), onEnd)).arrayBuffer()).rejects.toThrow('no RPC');
  expect(ended).toBe(1);
  const reader = streamZip(broken(), onEnd).getReader();
  await reader.read();
  await reader.cancel();
  expect(ended).toBe(2);
});
