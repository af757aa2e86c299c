import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertZkey, createMemorySource } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileTest } from '../../test/witness.ts';
import { computeKeyInWorker } from './key-in-worker.ts';

const main = `
  include "bits.circom";
  template Small() {
    signal input a;
    signal output y;
    component bits = ToBits(16);
    bits.value <== a;
    y <== bits.bits[3] * a;
  }
  component main = Small();`;

let folder: string;
function path(name: string) {
  return join(folder, name);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-key-test-'));
  await writeFile(path('test.r1cs'), (await compileTest(main)).r1csBytes);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('the dev setup in its worker', () => {
  it('writes both forms of one key, and reports what it wrote', async () => {
    const fractions: number[] = [];
    const job = { r1csPath: path('test.r1cs'), seed: 'test' };
    const { digests, shape } = await computeKeyInWorker(
      { ...job, zkeyPath: path('key.zkey'), compactPath: path('key.pzky') },
      { onProgress: (fraction) => fractions.push(fraction) },
    );
    const [zkey, compactKey] = [await readFile(path('key.zkey')), await readFile(path('key.pzky'))];
    expect(digests).toEqual({ zkey: sha256(zkey), compactKey: sha256(compactKey) });
    const pieces: Uint8Array[] = [];
    for await (const piece of convertZkey(createMemorySource(compactKey), 'standard')) {
      pieces.push(piece.slice());
    }
    expect(Buffer.concat(pieces).equals(zkey)).toBe(true);
    expect(shape).toMatchObject({ publicSignals: 1, domainSize: 32 });
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
  });

  it('writes and digests the requested files only', async () => {
    const job = { r1csPath: path('test.r1cs'), seed: 'test' };
    const { digests } = await computeKeyInWorker({ ...job, compactPath: path('only.pzky') });
    expect(digests.zkey).toBeUndefined();
    expect(digests.compactKey).toBe(sha256(await readFile(path('key.pzky'))));
  });

  it('fails if the file exists', async () => {
    const job = { r1csPath: path('test.r1cs'), seed: 'test', compactPath: path('key.pzky') };
    await expect(computeKeyInWorker(job)).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('stops at the abort signal, before and during its work', async () => {
    const job = { r1csPath: path('test.r1cs'), seed: 'test', compactPath: path('aborted.pzky') };
    const before = AbortSignal.abort(new Error('never begun'));
    await expect(computeKeyInWorker(job, { signal: before })).rejects.toThrow('never begun');
    const abort = new AbortController();
    const key = computeKeyInWorker(job, {
      signal: abort.signal,
      onProgress: () => {
        abort.abort(new Error('enough'));
      },
    });
    await expect(key).rejects.toThrow('enough');
  });
});
