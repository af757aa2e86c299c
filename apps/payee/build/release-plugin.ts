/**
 * Makes a release of a built page: the list of its files with their SHA-256 digests, in `release.json` and in the service worker, and
 * `integrity` at every script and style that `*.html` names. Scripts and styles are also there compressed, as
 * `*.br`. The digest of the release is the SHA-256 of `release.json`.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'vite';

/** The service worker holds the text of `release.json` in its place. */
const placeholder = '__POOL_RELEASE__';
const workerFile = 'sw.js';
const releaseFile = 'release.json';
/** Not in the list: they name the release. */
const unlisted = new Set([workerFile, releaseFile]);
/** Of a compressed file. A browser gets it under the name of the file itself, whose digest is in the list. */
const compressedEnd = '.br';
/** Makes the files 10 % smaller than 9, in seconds. */
const quality = 11;
/** Larger scripts are kernels for large work, for which it takes longer than for all others together. */
const largeBytes = 700_000;
const largeQuality = 9;

export function releasePlugin(): Plugin {
  let folder = '';
  return {
    name: 'pool-release',
    apply: 'build',
    enforce: 'post',
    configResolved({ root, build }) {
      folder = join(root, relative(root, build.outDir));
    },
    async closeBundle() {
      // The auditor's page alone is no release.
      if (!existsSync(join(folder, workerFile))) return;
      const digest = await writeRelease(folder);
      this.info(`the digest of this release is sha256:${digest}`);
    },
  };
}

/** @returns the digest of the release, in hex */
async function writeRelease(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !unlisted.has(name) && !name.endsWith(compressedEnd))
    .toSorted();
  for (const name of names.filter((file) => file.endsWith('.html'))) {
    await addIntegrity(folder, name);
  }
  const files: Record<string, string> = {};
  for (const name of names) {
    files[name] = digestOf('sha256', await readFile(join(folder, name))).toString('hex');
  }
  await Promise.all(
    names.filter((name) => /\.(?:js|css)$/u.test(name)).map((name) => compress(join(folder, name))),
  );
  const release = JSON.stringify({ files });
  const worker = await readFile(join(folder, workerFile), 'utf8');
  // A page that is built into the same folder makes another release of it.
  const written = worker.includes(placeholder)
    ? placeholder
    : JSON.stringify(await readFile(join(folder, releaseFile), 'utf8'));
  if (!worker.includes(written)) {
    throw new Error(`${workerFile} has no place for the list of files (${placeholder})`);
  }
  await writeFile(join(folder, releaseFile), release);
  const named = worker.replaceAll(written, () => JSON.stringify(release));
  await writeFile(join(folder, workerFile), named);
  return digestOf('sha256', release).toString('hex');
}

async function compress(file: string): Promise<void> {
  // The name has a digest of the text: the build of the other page has compressed it.
  if (existsSync(`${file}${compressedEnd}`)) return;
  const text = await readFile(file);
  const compressed = await promisify(brotliCompress)(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: text.length < largeBytes ? quality : largeQuality,
      [constants.BROTLI_PARAM_LGWIN]: 24,
    },
  });
  await writeFile(`${file}${compressedEnd}`, compressed);
}

/** A browser refuses a script or style that has another digest than the page names. */
async function addIntegrity(folder: string, name: string): Promise<void> {
  const html = await readFile(join(folder, name), 'utf8');
  let changed = html;
  for (const [tag, file] of html.matchAll(
    /<(?:script|link)\b[^>]*?(?:src|href)="\.\/([^"]+\.(?:js|css))"[^>]*>/gu,
  )) {
    if (tag.includes(' integrity=')) continue;
    const digest = digestOf('sha384', await readFile(join(folder, file ?? ''))).toString('base64');
    changed = changed.replace(tag, () => tag.replace(/>$/u, ` integrity="sha384-${digest}">`));
  }
  await writeFile(join(folder, name), changed);
}

function digestOf(algorithm: 'sha256' | 'sha384', bytes: Uint8Array | string): Buffer {
  return createHash(algorithm).update(bytes).digest();
}
