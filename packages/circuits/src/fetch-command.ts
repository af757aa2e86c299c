/**
 * `pool-circuits fetch`: production artifacts from a folder or a web server.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { PoolError } from '@pool/core';
import { manifestUrl } from './artifacts-manifest.ts';
import { circuitNames, parseCircuitName } from './circuits.ts';
import { type CommandIo, UsageError } from './command-io.ts';
import {
  type FetchedKind,
  type FetchRequest,
  fetchArtifacts,
  fetchedKinds,
} from './fetch-artifacts.ts';

export const FETCH_USAGE = `pool-circuits fetch --from <url|folder> --out <folder> [--circuit NAME] [--manifest F]
    brings the files that a manifest pins (default: the committed one; all its circuits) from <from>/<circuit>/
`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parseDigests = (entry: unknown): FetchRequest['sha256'] | undefined => {
  const sha256 = isRecord(entry) ? entry['sha256'] : undefined;
  if (!isRecord(sha256)) {
    return undefined;
  }
  const pairs = fetchedKinds.map((kind) => [kind, sha256[kind]] as const);
  return pairs.every(([, digest]) => typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest))
    ? (Object.fromEntries(pairs) as Record<FetchedKind, string>)
    : undefined;
};

/**
 * The digests a manifest pins, by circuit. A production manifest needs no more than `{"circuits": {"fund-16": {"sha256": …}}}` and
 * may leave circuits out.
 * @throws PoolError `artifacts_manifest_malformed`
 */
export const parsePinnedDigests = (json: string): ReadonlyMap<string, FetchRequest['sha256']> => {
  const malformed = (cause?: unknown) =>
    new PoolError(
      'artifacts_manifest_malformed',
      'The manifest does not pin the files of a circuit by SHA-256. Take the one published with the keys.',
      { cause },
    );
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw malformed(cause);
  }
  const circuits = isRecord(parsed) ? parsed['circuits'] : undefined;
  const pinned = new Map<string, FetchRequest['sha256']>();
  for (const name of circuitNames) {
    const entry = isRecord(circuits) ? circuits[name] : undefined;
    const digests = parseDigests(entry);
    if (entry !== undefined && digests === undefined) {
      throw malformed();
    }
    if (digests !== undefined) {
      pinned.set(name, digests);
    }
  }
  if (pinned.size === 0) {
    throw malformed();
  }
  return pinned;
};

const readManifest = async (path: string | undefined): Promise<string> => {
  try {
    return await readFile(path ?? manifestUrl(), 'utf8');
  } catch (cause) {
    throw new PoolError('file_missing', 'The manifest cannot be read.', { cause });
  }
};

/**
 * Runs `fetch …`.
 * @returns the exit code 0
 * @throws UsageError; PoolError as `fetchArtifacts`
 */
export const runFetch = async (args: readonly string[], io: CommandIo): Promise<number> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      out: { type: 'string' },
      circuit: { type: 'string' },
      manifest: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { from, out } = values;
  if (from === undefined || out === undefined) {
    throw new UsageError('fetch needs --from and --out');
  }
  const pinned = parsePinnedDigests(await readManifest(values.manifest));
  const names =
    values.circuit === undefined ? [...pinned.keys()] : [parseCircuitName(values.circuit)];
  const results: { circuit: string; path: string; fetched: boolean }[] = [];
  for (const circuit of names) {
    const sha256 = pinned.get(circuit);
    if (sha256 === undefined) {
      throw new PoolError('circuit_not_pinned', `The manifest does not pin ${circuit}.`);
    }
    const files = await fetchArtifacts(
      { from, out, circuit, sha256 },
      {
        signal: io.signal,
        onProgress: (_kind, bytes, total) => {
          if (total !== undefined && total > 0) {
            io.onProgress(bytes / total);
          }
        },
      },
    );
    results.push(...files.map(({ path, wasFetched }) => ({ circuit, path, fetched: wasFetched })));
  }
  const text = results.map(({ path }) => `${path}\n`).join('');
  io.answer(values.json, { files: results }, text);
  return 0;
};
