// Keys that an earlier process prepared: they are used without a look at the proving key, and only if nothing about them changed.
import {
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { type FileInput, identifyFile } from '../base/file-input.ts';
import { openKeyStore } from '../base/key-store.ts';
import { createWitnessRunner } from '../witness/witness-runner.ts';
import { createCpuEngine } from './cpu-engine.ts';
import type { Engine } from './engine.ts';
import { createKeyCache } from './key-cache.ts';

const budget = 2 ** 30;
let engine: Engine;
let squares: SmallCircuit;
let witness: Uint8Array;
let folder: string;
beforeAll(async () => {
  engine = await createCpuEngine({ threads: 2 });
  squares = await createSmallCircuit(squaresSource(20), 6);
  const runner = createWitnessRunner({ maximumBytes: budget, timeoutMs: 60_000 });
  witness = await runner.compute(squares.wasm, { start: 3, offsets: [1, 2] });
  await runner.close();
});
afterAll(async () => {
  await engine.close();
  await endSnarkjsThreads();
  await rm(squares.folder, { recursive: true, force: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-prepared-'));
  return () => rm(folder, { recursive: true, force: true });
});

/** What a process does with a key that it has not loaded before. */
async function start(zkey: FileInput, by: Engine = engine, keptIn = folder) {
  const keys = createKeyCache(by, budget, openKeyStore(keptIn));
  const file = await identifyFile(zkey, 'proving key');
  const reads = vi.fn<() => void>();
  const counted: typeof file = {
    ...file,
    open: (...args) => {
      reads();
      return file.open(...args);
    },
  };
  const { resident, header, ic } = await keys.take(counted, {});
  const sums = await resident.computeSums(witness);
  await keys.written();
  keys.release();
  return { sums, header, ic, hasRead: reads.mock.calls.length > 0, loads: keys.loads() };
}

async function listPrepared(): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name));
}

describe('a prepared key', () => {
  it('gives the same sums without the proving key, in all forms that last', async () => {
    const bytes = new Uint8Array(await readFile(squares.zkey));
    for (const [zkey, again] of [
      [squares.zkey, squares.zkey],
      [bytes, bytes.slice()],
    ]) {
      const { hasRead, ...first } = await start(zkey!);
      expect(hasRead).toBe(true);
      expect(await start(again!)).toEqual({ ...first, hasRead: false });
    }
    const [one] = await listPrepared();
    expect((await stat(one!)).mode & 0o777).toBe(0o600);
  });

  it('is not kept for an object of this process', async () => {
    await start(new Blob([await readFile(squares.zkey)]));
    expect(await listPrepared()).toEqual([]);
  });

  it('that is damaged anywhere is not used, and is written again', async () => {
    const { sums } = await start(squares.zkey);
    const [path] = await listPrepared();
    const whole = await readFile(path!);
    for (const place of [0, 9, 20, 60, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[place]! ^= 1;
      await writeFile(path!, damaged);
      expect(await start(squares.zkey)).toMatchObject({ sums, hasRead: true });
      expect((await readFile(path!)).equals(whole)).toBe(true);
    }
    for (const length of [0, 30, whole.length - 1]) {
      await truncate(path!, length);
      expect(await start(squares.zkey)).toMatchObject({ sums, hasRead: true });
      expect((await readFile(path!)).equals(whole)).toBe(true);
    }
  });

  it('is not used for a proving key that was replaced', async () => {
    await start(squares.zkey);
    const { atime } = await stat(squares.zkey);
    await utimes(squares.zkey, atime, new Date(Date.now() - 5_000));
    expect((await start(squares.zkey)).hasRead).toBe(true);
    expect((await start(squares.zkey)).hasRead).toBe(false);
    expect(await listPrepared()).toHaveLength(1);
  });

  it('of a URL is used as long as the server names the same version, and not kept without one', async () => {
    const key = await readFile(squares.zkey);
    let headers: Readonly<Record<string, string>> = {};
    const server = createServer((request, response) => {
      response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : key);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a.zkey`);
    await start(url);
    expect(await listPrepared()).toEqual([]);
    for (const version of [
      { etag: '"1"' },
      { etag: '"2"' },
      { 'last-modified': new Date(0).toUTCString() },
    ]) {
      headers = version;
      expect((await start(url)).hasRead).toBe(true);
      expect((await start(url)).hasRead).toBe(false);
    }
    server.removeAllListeners('request').on('request', (_, response: ServerResponse) => {
      response.writeHead(503, headers).end();
    });
    await expect(start(url)).rejects.toMatchObject({ code: 'artifact_unreadable' });
  });

  it('is not used by an engine of another format', async () => {
    await start(squares.zkey);
    const other = { ...engine, describeImageFormat: () => Promise.resolve('other') };
    expect((await start(squares.zkey, other)).hasRead).toBe(true);
  });

  it('is not needed: where none can be written, the proving key is read each time', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    for (let i = 0; i < 2; i++) {
      expect((await start(squares.zkey, engine, join(file, 'no folder'))).hasRead).toBe(true);
    }
  });

  it('is not needed: without WebCrypto the proving key is read each time', async () => {
    const describeImageFormat = () => Promise.reject(new TypeError('no subtle'));
    for (let i = 0; i < 2; i++) {
      expect((await start(squares.zkey, { ...engine, describeImageFormat })).hasRead).toBe(true);
    }
    expect(await listPrepared()).toEqual([]);
  });

  it('is written beside the proof, and not finished when its key was released', async () => {
    const next = Promise.withResolvers<undefined>();
    const written: Uint8Array[] = [];
    let failure: unknown;
    const keys = createKeyCache(engine, budget, {
      open: () => Promise.resolve(undefined),
      write: async (_name, chunks) => {
        try {
          for await (const chunk of chunks) {
            written.push(chunk);
            await next.promise;
          }
        } catch (error) {
          failure = error;
          throw error;
        }
      },
    });
    // It is taken although nothing was written.
    await keys.take(await identifyFile(squares.zkey, 'proving key'), {});
    await expect.poll(() => written).toHaveLength(1);
    keys.release();
    next.resolve(undefined);
    await keys.written();
    // Start and head.
    expect(written).toHaveLength(2);
    expect(failure).toMatchObject({ code: 'input_refused' });
  });

  it('that a process did not finish is removed after an hour', async () => {
    const [old, fresh] = ['a.prepared.1', 'a.prepared.2'].map((name) => join(folder, name));
    await Promise.all([writeFile(old!, ''), writeFile(fresh!, '')]);
    await utimes(old!, 0, new Date(Date.now() - 2 * 3_600_000));
    await start(squares.zkey);
    const left = await listPrepared();
    expect(left).toHaveLength(2);
    expect(left).toContain(fresh);
  });

  it('is removed when eight newer ones were written', async () => {
    const key = await readFile(squares.zkey);
    const paths = Array.from({ length: 9 }, (_, i) => join(folder, `${i}.zkey`));
    for (const path of paths) {
      await writeFile(path, key);
      await start(path);
    }
    const kept = (await listPrepared()).filter((path) => path.endsWith('.prepared'));
    expect(kept).toHaveLength(8);
    expect((await start(paths[8]!)).hasRead).toBe(false);
    expect((await start(paths[0]!)).hasRead).toBe(true);
  });
});
