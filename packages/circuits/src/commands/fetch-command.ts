/**
 * `pool-circuits fetch`: production artifacts from a folder or a web server.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { PoolError } from '@pool/core';
import { manifestUrl } from '../artifacts-manifest.ts';
import { parseCircuitName } from '../circuits.ts';
import { fetchArtifacts } from '../fetch/fetch-artifacts.ts';
import { parsePinnedDigests } from '../fetch/pinned-digests.ts';
import { type CommandIo, UsageError } from './command-io.ts';

async function readManifest(path: string | undefined): Promise<string> {
  try {
    return await readFile(path ?? manifestUrl(), 'utf8');
  } catch (cause) {
    throw new PoolError(
      'invalid_option',
      'The manifest cannot be read. Check its path and that it is JSON.',
      { cause },
    );
  }
}

/**
 * Runs `fetch …`.
 * @returns the exit code 0
 * @throws UsageError; PoolError like `fetchArtifacts`
 */
export async function runFetch(args: readonly string[], io: CommandIo): Promise<number> {
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
      throw new PoolError('artifact_mismatch', `The manifest does not pin ${circuit}.`);
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
}
