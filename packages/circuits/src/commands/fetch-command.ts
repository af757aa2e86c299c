/**
 * `pool-circuits fetch`: production artifacts from a folder or a web server.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { PoolError } from '@pool/core';
import { manifestUrl } from '../artifacts-manifest.ts';
import { parseCircuitName } from '../circuits.ts';
import { fetchArtifacts } from '../fetch/fetch-artifacts.ts';
import { parsePinnedDigests } from '../fetch/pinned-digests.ts';
import { command } from './command-io.ts';

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
export const runFetch = command(
  ['from', 'out'],
  ['circuit', 'manifest'],
  ['json'],
  async ({ values, signal, onProgress, answer }) => {
    const { from, out } = values;
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
          signal,
          onProgress: (_kind, bytes, total) => {
            if (total !== undefined && total > 0) {
              onProgress(bytes / total);
            }
          },
        },
      );
      results.push(
        ...files.map(({ path, wasFetched }) => ({ circuit, path, fetched: wasFetched })),
      );
    }
    const text = results.map(({ path }) => `${path}\n`).join('');
    return answer({ files: results }, text);
  },
);
