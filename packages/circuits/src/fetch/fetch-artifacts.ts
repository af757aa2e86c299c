/**
 * Fetches a circuit's production artifacts from a folder or a web server, and keeps only files whose SHA-256 is in the manifest
 * (protocol §9). The server is not trusted: the worst it can do is fail.
 *
 * A file is first written to `<name>.<digest>.part`. An interrupted transfer is resumed from there. If the result is wrong, the
 * file is fetched once more from the beginning.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PoolError } from '@pool/core';
import { artifactFiles } from '../artifacts/build-artifacts.ts';
import { computeFileDigest } from '../artifacts-manifest.ts';
import { type FetchedKind, fetchedKinds, type PinnedDigests } from './pinned-digests.ts';

export type FetchRequest = {
  /** http(s) URL or folder that holds `<circuit>/<file>`. */
  readonly from: string;
  readonly circuit: string;
  readonly sha256: PinnedDigests;
  /** Folder that will hold `<circuit>/<file>`. */
  readonly out: string;
};

export type FetchOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Bytes of this file so far, and in total if the server sends a length. */
  readonly onProgress?: ((kind: FetchedKind, bytes: number, total?: number) => void) | undefined;
};

export type FetchedFile = {
  readonly kind: FetchedKind;
  readonly path: string;
  /** False if the file was already there. */
  readonly wasFetched: boolean;
};

/** Larger than any key of 2^22 rows. It stops a transfer that never ends. */
const mostBytes = 16 * 2 ** 30;
/** A server that sends nothing for this time has failed. */
const idleMs = 60_000;

function unavailable(what: string, cause?: unknown): PoolError {
  return new PoolError(
    'artifact_unavailable',
    `${what} could not be fetched. Run the command again.`,
    { cause },
  );
}

/** Bytes of a file from `offset` on. The `offset` in the result is where they actually begin. */
type Source = {
  readonly offset: number;
  readonly total: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
};

function isUrl(from: string): boolean {
  return /^https?:\/\//i.test(from);
}

async function openFolderSource(path: string, offset: number): Promise<Source> {
  const size = await stat(path).then(
    (entry) => (entry.isFile() ? entry.size : undefined),
    () => undefined,
  );
  if (size === undefined) {
    throw new PoolError('artifact_missing', `There is no file ${path}.`);
  }
  const start = offset <= size ? offset : 0;
  return { offset: start, total: size, chunks: createReadStream(path, { start }) };
}

async function* withIdleLimit(
  chunks: AsyncIterable<Uint8Array>,
  idle: AbortController,
): AsyncGenerator<Uint8Array> {
  const restart = () => setTimeout(() => idle.abort(), idleMs);
  let timer = restart();
  try {
    for await (const chunk of chunks) {
      clearTimeout(timer);
      yield chunk;
      timer = restart();
    }
  } finally {
    clearTimeout(timer);
  }
}

async function openUrlSource(
  url: string,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<Source> {
  const idle = new AbortController();
  const signals = [idle.signal, ...(signal === undefined ? [] : [signal])];
  const timer = setTimeout(() => idle.abort(), idleMs);
  const response = await fetch(url, {
    // Ranges count the transferred bytes, so the transfer must not be compressed.
    headers: {
      'accept-encoding': 'identity',
      ...(offset > 0 ? { range: `bytes=${offset}-` } : {}),
    },
    signal: AbortSignal.any(signals),
  }).finally(() => clearTimeout(timer));
  if (response.status === 416) {
    await response.body?.cancel();
    return await openUrlSource(url, 0, signal);
  }
  if (response.status === 404) {
    await response.body?.cancel();
    throw new PoolError('artifact_missing', `There is no file ${url}.`);
  }
  const range = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '');
  const start = response.status === 206 ? Number(range?.[1] ?? Number.NaN) : 0;
  if (!response.ok || response.body === null || (start !== offset && start !== 0)) {
    await response.body?.cancel();
    throw unavailable(`${url} (HTTP ${response.status})`);
  }
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  return {
    offset: start,
    total: Number.isSafeInteger(length) ? start + length : undefined,
    chunks: withIdleLimit(response.body, idle),
  };
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Transfers into the partial file and returns the digest of the whole file. */
async function transfer(
  location: string,
  part: string,
  kind: FetchedKind,
  { signal, onProgress }: FetchOptions,
): Promise<string> {
  const have = await sizeOf(part);
  const source = isUrl(location)
    ? await openUrlSource(location, have, signal)
    : await openFolderSource(location, have);
  const hash = createHash('sha256');
  const handle = await open(part, 'a');
  try {
    await handle.truncate(source.offset);
    if (source.offset > 0) {
      await pipeline(createReadStream(part, { end: source.offset - 1 }), hash, { end: false });
    }
    let bytes = source.offset;
    for await (const chunk of source.chunks) {
      signal?.throwIfAborted();
      await handle.appendFile(chunk);
      hash.update(chunk);
      bytes += chunk.length;
      onProgress?.(kind, bytes, source.total);
      if (bytes > mostBytes) {
        throw unavailable(`${location} (it does not end)`);
      }
    }
    if (source.total !== undefined && bytes < source.total) {
      throw unavailable(`${location} (it was cut off)`);
    }
    await handle.sync();
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}

async function fetchFile(
  request: FetchRequest,
  kind: FetchedKind,
  options: FetchOptions,
): Promise<FetchedFile> {
  const name = artifactFiles[kind];
  const folder = join(request.out, request.circuit);
  const path = join(folder, name);
  const expected = request.sha256[kind];
  if (existsSync(path) && (await computeFileDigest(path)) === expected) {
    return { kind, path, wasFetched: false };
  }
  await mkdir(folder, { recursive: true });
  const part = join(folder, `${name}.${expected.slice(0, 16)}.part`);
  const location = isUrl(request.from)
    ? `${request.from.replace(/\/+$/, '')}/${request.circuit}/${name}`
    : join(request.from, request.circuit, name);
  const attempt = async (): Promise<boolean> => {
    try {
      return (await transfer(location, part, kind, options)) === expected;
    } catch (error) {
      options.signal?.throwIfAborted();
      throw error instanceof PoolError ? error : unavailable(location, error);
    }
  };
  const wasResumed = (await sizeOf(part)) > 0;
  let matches = await attempt();
  if (!matches && wasResumed) {
    // The partial file may have been the beginning of another file.
    await rm(part);
    matches = await attempt();
  }
  if (!matches) {
    await rm(part);
    throw new PoolError(
      'artifact_refused',
      `${location} is not the file that the manifest pins (sha-256 ${expected}). Nothing was kept.`,
    );
  }
  await rename(part, path);
  return { kind, path, wasFetched: true };
}

/**
 * Fetches all files of a circuit. Files that are already there with the right digest are not fetched.
 * @throws PoolError `artifact_refused` if a file is not the pinned one; `artifact_missing`; `artifact_unavailable` (retryable;
 *   the received part is kept and resumed)
 */
export async function fetchArtifacts(
  request: FetchRequest,
  options: FetchOptions = {},
): Promise<FetchedFile[]> {
  const files: FetchedFile[] = [];
  for (const kind of fetchedKinds) {
    files.push(await fetchFile(request, kind, options));
  }
  return files;
}
