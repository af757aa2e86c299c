/** Fetching from folders and from a local web server: complete, resumed, and with wrong content. */

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { artifactFiles } from '../artifacts/build-artifacts.ts';
import { computeDigest } from '../artifacts-manifest.ts';
import { fetchArtifacts } from './fetch-artifacts.ts';
import { type FetchedKind, fetchedKinds, parsePinnedDigests } from './pinned-digests.ts';

const contents: Readonly<Record<FetchedKind, Buffer>> = {
  r1cs: Buffer.from('constraints'),
  wasm: Buffer.from('generator'),
  zkey: Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) % 251)),
  verificationKey: Buffer.from('{"protocol":"groth16"}'),
};
const sha256 = Object.fromEntries(
  fetchedKinds.map((kind) => [kind, computeDigest(contents[kind])]),
) as Record<FetchedKind, string>;

/** How the server behaves towards `proving-key.zkey`. */
type Manner = 'ranges' | 'no ranges' | 'breaks off' | 'lies' | 'fails' | 'has none';

let folder: string;
let server: Server;
let url: string;
let manner: Manner;
let requests: string[];
function keyPart() {
  return join(folder, 'out', 'fund-16', `${artifactFiles.zkey}.${sha256.zkey.slice(0, 16)}.part`);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-fetch-test-'));
  await mkdir(join(folder, 'from', 'fund-16'), { recursive: true });
  for (const kind of fetchedKinds) {
    await writeFile(join(folder, 'from', 'fund-16', artifactFiles[kind]), contents[kind]);
  }
  [manner, requests] = ['ranges', []];
  server = createServer((request, response) => {
    const name = (request.url ?? '').split('/').at(-1);
    const kind = fetchedKinds.find((candidate) => artifactFiles[candidate] === name);
    requests.push(`${name} ${request.headers.range ?? ''}`.trim());
    if (kind === undefined || (kind === 'zkey' && manner === 'has none')) {
      response.writeHead(404).end();
      return;
    }
    const bytes = contents[kind];
    if (kind !== 'zkey') {
      response.end(bytes);
    } else if (manner === 'fails') {
      response.writeHead(503).end();
    } else if (manner === 'lies') {
      response.end(Buffer.from(bytes).fill(1, 0, 10));
    } else if (manner === 'breaks off') {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 50));
    } else {
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      if (manner === 'no ranges' || start === 0) {
        response.end(bytes);
      } else if (start >= bytes.length) {
        response.writeHead(416).end();
      } else {
        const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
        response.writeHead(206, { 'content-range': range }).end(bytes.subarray(start));
      }
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys/`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

function run(from: string, digests = sha256) {
  return fetchArtifacts({ from, circuit: 'fund-16', sha256: digests, out: join(folder, 'out') });
}
async function expectAllThere() {
  const out = join(folder, 'out', 'fund-16');
  expect((await readdir(out)).sort()).toEqual(fetchedKinds.map((k) => artifactFiles[k]).sort());
  for (const kind of fetchedKinds) {
    expect((await readFile(join(out, artifactFiles[kind]))).equals(contents[kind])).toBe(true);
  }
}
async function leavePart(bytes: Buffer) {
  await mkdir(join(folder, 'out', 'fund-16'), { recursive: true });
  await writeFile(keyPart(), bytes);
}

describe('fetching', () => {
  it('fetches every file from a folder or a server once', async () => {
    for (const from of [join(folder, 'from'), url]) {
      await rm(join(folder, 'out'), { recursive: true, force: true });
      expect((await run(from)).map(({ wasFetched }) => wasFetched)).toEqual([
        true,
        true,
        true,
        true,
      ]);
      await expectAllThere();
    }
    requests = [];
    expect((await run(url)).some(({ wasFetched }) => wasFetched)).toBe(false);
    expect(requests).toEqual([]);
  });

  it('resumes an interrupted download at its end', async () => {
    manner = 'breaks off';
    await expect(run(url)).rejects.toMatchObject({ code: 'artifact_unavailable', retryable: true });
    const kept = (await readFile(keyPart())).length;
    expect(kept).toBeGreaterThan(0);
    [manner, requests] = ['ranges', []];
    await run(url);
    expect(requests).toContain(`${artifactFiles.zkey} bytes=${kept}-`);
    await expectAllThere();
  });

  it.each(['ranges', 'no ranges'] as const)('resumes with a server of %s', async (how) => {
    manner = how;
    await leavePart(contents.zkey.subarray(0, 1234));
    await run(url);
    await expectAllThere();
  });

  it('resumes from a folder, and finishes a part that is complete already', async () => {
    await leavePart(contents.zkey.subarray(0, 1234));
    await run(join(folder, 'from'));
    await expectAllThere();
    for (const from of [join(folder, 'from'), url]) {
      await rm(join(folder, 'out'), { recursive: true });
      await leavePart(contents.zkey);
      await run(from);
      await expectAllThere();
    }
  });

  it('starts again if the partial file differs', async () => {
    await leavePart(Buffer.alloc(1234, 7));
    await run(url);
    await expectAllThere();
  });

  it('replaces a file that differs from the manifest', async () => {
    await run(url);
    await writeFile(join(folder, 'out', 'fund-16', artifactFiles.zkey), 'other');
    await run(url);
    await expectAllThere();
  });

  it('refuses a file with another digest and stores nothing of it', async () => {
    manner = 'lies';
    await expect(run(url)).rejects.toMatchObject({ code: 'artifact_refused' });
    const left = await readdir(join(folder, 'out', 'fund-16'));
    expect(left.filter((name) => name.startsWith(artifactFiles.zkey))).toEqual([]);
  });

  it('names missing files, and reports a failing server as retryable', async () => {
    manner = 'has none';
    await expect(run(url)).rejects.toMatchObject({ code: 'artifact_missing', retryable: false });
    manner = 'fails';
    await expect(run(url)).rejects.toMatchObject({ code: 'artifact_unavailable', retryable: true });
    await expect(run(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'artifact_missing' });
  });
});

describe('the manifest of production keys', () => {
  it('can omit circuits, but no digest of a circuit', () => {
    const pinned = parsePinnedDigests(JSON.stringify({ circuits: { 'fund-16': { sha256 } } }));
    expect([...pinned]).toEqual([['fund-16', sha256]]);
    const { zkey: _, ...rest } = sha256;
    for (const broken of [
      '{',
      '{}',
      JSON.stringify({ circuits: { 'fund-16': { sha256: rest } } }),
    ]) {
      expect(() => parsePinnedDigests(broken)).toThrow('pin');
    }
  });
});
