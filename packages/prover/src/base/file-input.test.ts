// Every form of a file, through whole proofs over the plain engine: its counts say when a key was loaded.
import { openAsBlob } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOracleEngine, oracleKeyBytes } from '../../test/oracle-engine.ts';
import { setUp } from '../../test/oracle-prover.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { createKeyCache } from '../engine/key-cache.ts';
import { readVerificationKey } from '../zkey/open-zkey.ts';
import { readChunks } from './byte-sources.ts';
import { ProverError } from './errors.ts';
import { type FileInput, identifyFile, openFile, readFile as readWhole } from './file-input.ts';
import type { ProvingArtifact } from './prover.ts';

const input = { product: 391, a: 17, b: 23 };

let circuit: SmallCircuit;
let files: Readonly<Record<'wasm' | 'zkey', Uint8Array<ArrayBuffer>>>;
let server: Server;
let origin: string;
/** Sends the second half of what /half answers. */
let sendRest: (() => void) | undefined;
/** Paths in the order of the requests. */
const requests: string[] = [];

beforeAll(async () => {
  circuit = await createSmallCircuit();
  const read = async (path: string) => new Uint8Array(await readFile(path));
  files = { wasm: await read(circuit.wasm), zkey: await read(circuit.zkey) };
  server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    if (path === '/busy') response.writeHead(503).end();
    else if (path === '/cut') {
      response.writeHead(200, { 'content-length': files.zkey.length });
      response.write(files.zkey.subarray(0, 100), () => response.destroy());
    } else if (path === '/silent') {
      // It never answers.
    } else if (path === '/half') {
      const middle = files.zkey.length >> 1;
      response.writeHead(200, { 'content-length': files.zkey.length });
      response.write(files.zkey.subarray(0, middle));
      sendRest = () => response.end(files.zkey.subarray(middle));
    } else if (path === '/a.wasm') response.end(files.wasm);
    else if (path === '/a.zkey') response.end(files.zkey);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

function open(options: Parameters<typeof setUp>[0] = {}) {
  const { prover, cpu } = setUp({ accelerator: 'cpu', ...options });
  onTestFinished(() => prover.close());
  return {
    prove: async (artifact: ProvingArtifact, signal?: AbortSignal) =>
      (await prover.prove({ circuit: artifact, input, signal })).publicSignals,
    loads: () => cpu.counts.loads,
    prover,
  };
}

function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream();
}

function inShared(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

type Kind = 'wasm' | 'zkey';
const forms: Readonly<Record<string, (kind: Kind) => FileInput | Promise<FileInput>>> = {
  'a path': (kind) => circuit[kind],
  'a file: URL': (kind) => pathToFileURL(circuit[kind]),
  'the text of a file: URL': (kind) => pathToFileURL(circuit[kind]).href,
  'an http URL': (kind) => new URL(`/a.${kind}`, origin),
  'the text of an http URL': (kind) => `${origin}/a.${kind}`,
  'a Blob': (kind) => new Blob([files[kind]]),
  'a File': (kind) => new File([files[kind]], `a.${kind}`),
  'a Blob of a file': (kind) => openAsBlob(circuit[kind]),
  'a Uint8Array': (kind) => files[kind],
  'a part of a buffer': (kind) => new Uint8Array([7, ...files[kind], 7]).subarray(1, -1),
  'shared memory': (kind) => inShared(files[kind]),
  'an ArrayBuffer': (kind) => files[kind].slice().buffer,
  'the form of snarkjs': (kind) => ({ type: 'mem', data: files[kind] }),
  'a stream': (kind) => streamOf(files[kind]),
};

describe.each(Object.entries(forms))('%s', (_, make) => {
  it('gives the bytes of the file, and keeps its identity', async () => {
    const zkey = await make('zkey');
    const first = await identifyFile(zkey, 'proving key');
    const maximumBytes = 2 ** 20;
    expect(await readWhole(first, 'proving key', { maximumBytes })).toEqual(files.zkey);
    expect(await first.isUnchanged()).toBe(true);
    expect((await identifyFile(zkey, 'proving key')).identity).toBe(first.identity);
    const other = await identifyFile(await make('wasm'), 'witness program');
    expect(other.identity).not.toBe(first.identity);
    expect((await readVerificationKey(zkey)).IC).toEqual(circuit.verificationKey.IC);
  });
});

it.each([
  ['a file: URL', 'an http URL'],
  ['the text of an http URL', 'the form of snarkjs'],
  ['a stream', 'a Blob'],
  ['an ArrayBuffer', 'a stream'],
])('two proofs with %s and %s read each once', async (program, key) => {
  const { prove, loads } = open();
  const artifact = { wasm: await forms[program]!('wasm'), zkey: await forms[key]!('zkey') };
  requests.length = 0;
  expect(await prove(artifact)).toEqual(['391']);
  expect(await prove(artifact)).toEqual(['391']);
  expect(loads()).toBe(1);
  expect(new Set(requests).size).toBe(requests.length);
});

describe('bytes', () => {
  it('that are equal are the same key', async () => {
    const { prove, loads } = open();
    await prove({ ...circuit, zkey: files.zkey.slice() });
    await prove({ ...circuit, zkey: files.zkey.slice().buffer });
    expect(loads()).toBe(1);
  });

  it('that were overwritten are another key', async () => {
    const other = await createSmallCircuit(squaresSource(5), 4);
    const { prover, loads } = open();
    const first = await readFile(circuit.zkey);
    const second = await readFile(other.zkey);
    const bytes = new ArrayBuffer(Math.max(first.length, second.length));
    const zkey = (from: Uint8Array) => {
      const part = new Uint8Array(bytes, 0, from.length);
      part.set(from);
      return part;
    };
    await prover.prove({ circuit: { wasm: circuit.wasm, zkey: zkey(first) }, input });
    const given = { start: 3, offsets: [1, 2] };
    await prover.prove({ circuit: { wasm: other.wasm, zkey: zkey(second) }, input: given });
    expect(loads()).toBe(2);
    await rm(other.folder, { recursive: true });
  });

  it('that change while they are read are refused', async () => {
    const zkey = files.zkey.slice();
    const engine = createOracleEngine();
    const load: typeof engine.load = async (key) => {
      const resident = await engine.load(key);
      zkey[zkey.length - 1] = 7;
      return resident;
    };
    const keys = createKeyCache({ ...engine, load }, 10 * oracleKeyBytes);
    const taken = keys.take(await identifyFile(zkey, 'proving key'), {});
    await expect(taken).rejects.toMatchObject({ code: 'zkey_malformed', retryable: true });
    expect(keys.count()).toBe(0);
  });
});

it('a key that was evicted is read again from its stream and fetched again from its URL', async () => {
  // Memory for three keys.
  const keys = createKeyCache(createOracleEngine(), 3 * oracleKeyBytes);
  const take = async (zkey: FileInput) => {
    await keys.take(await identifyFile(zkey, 'proving key'), {});
  };
  for (const zkey of [streamOf(files.zkey), `${origin}/a.zkey`]) {
    await take(zkey);
    for (let i = 0; i < 3; i++) await take(new Blob([files.zkey]));
    const before = keys.loads();
    await take(zkey);
    await take(zkey);
    expect(keys.loads()).toBe(before + 1);
  }
});

describe('a file that cannot be read names itself, the reason and whether to try again', () => {
  it.each([
    [
      '/missing.zkey',
      false,
      /^The proving key missing\.zkey cannot be read: 127\S+ answered with status 404/,
    ],
    ['/busy', true, /^The proving key busy cannot be read: 127\S+ answered with status 503/],
    [
      '/cut',
      true,
      /^The proving key cut cannot be read: the connection to 127\S+ failed\. Try again\.$/,
    ],
  ])('%s', async (path, retryable, message) => {
    const { prove } = open();
    await expect(prove({ ...circuit, zkey: origin + path })).rejects.toMatchObject({
      code: 'artifact_unreadable',
      retryable,
      message: expect.stringMatching(message),
    });
  });

  it('a server that is away', async () => {
    const { prove } = open();
    await expect(prove({ ...circuit, wasm: 'http://127.0.0.1:1/a.wasm' })).rejects.toMatchObject({
      code: 'artifact_unreadable',
      retryable: true,
      message:
        'The witness program a.wasm cannot be read: the connection to 127.0.0.1:1 failed. Try again.',
    });
  });

  it('a body of another length than announced', async () => {
    const headers = { 'content-length': '7' };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('longer than that', { headers })));
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    await expect(openFile(`${origin}/a.zkey`, 'proving key')).rejects.toMatchObject({
      code: 'artifact_unreadable',
      retryable: true,
      message: expect.stringMatching(/ sent 16 of 7 bytes\. Try again\.$/),
    });
  });

  it('a body of another length than announced, but not from another origin, which hides its encoding', async () => {
    const headers = { 'content-length': '7' };
    const response = new Response('longer than that', { headers });
    Object.defineProperty(response, 'type', { value: 'cors' });
    vi.stubGlobal('fetch', () => Promise.resolve(response));
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    const onBytes = vi.fn();
    const source = await openFile(`${origin}/a.zkey`, 'proving key', { onBytes });
    expect(source.size).toBe(16);
    expect(onBytes).not.toHaveBeenCalled();
  });

  it('a body that stops', async () => {
    const reading = readChunks(
      new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) }),
      {
        role: 'proving key',
        idleMs: 1,
        toError: (cause) =>
          new ProverError('artifact_unreadable', 'away', { retryable: true, cause }),
      },
    );
    await expect(reading).rejects.toMatchObject({ code: 'artifact_unreadable', retryable: true });
  });

  it('a witness or program that became shorter', async () => {
    const path = join(circuit.folder, 'shorter.wtns');
    await writeFile(path, files.zkey);
    for (const role of ['witness', 'witness program'] as const) {
      const source = await openFile(path, role);
      await expect(source.read(source.size - 1, new Uint8Array(2))).rejects.toMatchObject({
        code: 'artifact_unreadable',
        retryable: true,
        message: expect.stringContaining(`The ${role} shorter.wtns`),
      });
      await source.close();
    }
  });

  it('a stream that fails', async () => {
    const { prove } = open();
    const zkey = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('the cable is cut')),
    });
    await expect(prove({ ...circuit, zkey })).rejects.toMatchObject({
      code: 'artifact_unreadable',
      retryable: false,
      cause: { message: 'the cable is cut' },
    });
  });

  it('a system without a free file descriptor', async () => {
    const full = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    const files = process.getBuiltinModule('node:fs/promises');
    const stat = vi.spyOn(files, 'stat').mockRejectedValueOnce(full);
    onTestFinished(() => stat.mockRestore());
    const { prove } = open();
    await expect(prove(circuit)).rejects.toMatchObject({
      code: 'artifact_unreadable',
      retryable: true,
      message: expect.stringMatching(/EMFILE\. Try again\.$/),
    });
  });
});

it('the progress of a download is part of the stage of the proof', async () => {
  const { prover } = open();
  const fractions: number[] = [];
  const proof = prover.prove({
    circuit: { ...circuit, zkey: `${origin}/half` },
    input,
    onProgress: (stage, fraction) => {
      if (stage !== 'proof' || fraction === 0) return;
      fractions.push(fraction);
      sendRest?.();
    },
  });
  expect((await proof).publicSignals).toEqual(['391']);
  // Half of the bytes are a quarter of the loading, which is 0.4 of the stage.
  expect(fractions[0]).toBeCloseTo(0.1, 1);
  expect(fractions[1]).toBeCloseTo(0.2, 5);
});

it('a download ends with the caller’s signal', async () => {
  const { prove } = open();
  const abort = new AbortController();
  const zkey = `${origin}/silent`;
  requests.length = 0;
  const proof = prove({ ...circuit, zkey }, abort.signal);
  await vi.waitFor(() => expect(requests).toContain('/silent'), { timeout: 30_000 });
  abort.abort();
  await expect(proof).rejects.toMatchObject({ code: 'proof_aborted' });
});

it('a stream ends with the caller’s signal', async () => {
  const { prove } = open();
  const abort = new AbortController();
  const cancel = vi.fn();
  const pull = vi.fn(() => new Promise<void>(() => {}));
  const zkey = new ReadableStream({ pull, cancel });
  const proof = prove({ ...circuit, zkey }, abort.signal);
  await vi.waitFor(() => expect(zkey.locked).toBe(true), { timeout: 30_000 });
  abort.abort();
  await expect(proof).rejects.toMatchObject({ code: 'proof_aborted' });
  expect(cancel).toHaveBeenCalled();
});

it('a stream without an end is stopped at the memory budget', async () => {
  const { prove } = open();
  const zkey = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
  });
  await expect(prove({ ...circuit, zkey })).rejects.toMatchObject({
    code: 'memory_budget_exceeded',
  });
});

it('a stream that was read by others is refused', async () => {
  const { prove } = open();
  const zkey = streamOf(files.zkey);
  zkey.getReader();
  await expect(prove({ ...circuit, zkey })).rejects.toMatchObject({ code: 'argument_invalid' });
});

it('a proof needs no verification key, and refuses another than the key’s own', async () => {
  const { prove } = open();
  const { wasm, zkey, verificationKey } = circuit;
  expect(await prove({ wasm, zkey })).toEqual(['391']);
  const other = { ...verificationKey, IC: verificationKey.IC.toReversed() };
  await expect(prove({ wasm, zkey, verificationKey: other })).rejects.toMatchObject({
    code: 'artifacts_mismatch',
  });
});
