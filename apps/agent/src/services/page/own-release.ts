/**
 * A copy of a release of the payee's page, whose every file is the one that the digest of the release stands for.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PoolError, parseStrictJson } from '@pool/core';
import * as v from 'valibot';

/** The list of a release: SHA-256 of each file by its name, in hex. */
const releaseFile = 'release.json';
const hexDigest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/u));
/** No name leads out of the folder. */
const fileName = v.pipe(
  v.string(),
  v.regex(/^[\w-][\w.-]{0,100}(?:\/[\w-][\w.-]{0,100}){0,5}$/u, 'a name with a strange form'),
);
const releaseSchema = v.strictObject({ files: v.record(fileName, hexDigest) });

/** Bytes of one file. */
const maxFileBytes = 16 * 1024 * 1024;
const timeoutMs = 60_000;

/** @param digest - SHA-256 of `release.json`, in hex, with or without `sha256:` before it. @throws PoolError `invalid_request` */
export function parseReleaseDigest(digest: string): string {
  const hex = digest.toLowerCase().replace(/^sha256:/u, '');
  if (!v.is(hexDigest, hex)) {
    throw new PoolError(
      'invalid_request',
      '--digest is the digest of a release as the build prints it and the page shows it: 64 hexadecimal digits',
    );
  }
  return hex;
}

/**
 * Takes the files from the platform's page if `folder` has none, and checks every one in any case.
 * @param folder - of this release alone
 * @throws PoolError `artifact_mismatch` if a file is another one; `platform_unreachable`
 */
export async function keepRelease(folder: string, digest: string, page: URL): Promise<void> {
  const kept = await readFile(join(folder, releaseFile)).catch(() => undefined);
  if (kept !== undefined) {
    await checkRelease(folder, digest);
    return;
  }
  const release = await download(new URL(releaseFile, page));
  const files = readFiles(release, digest, `${page.href}${releaseFile}`);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    for (const [name, expected] of Object.entries(files)) {
      const content = await download(new URL(name, page));
      assertDigest(content, expected, `${page.href}${name}`);
      await mkdir(dirname(join(unfinished, name)), { recursive: true });
      await writeFile(join(unfinished, name), content);
    }
    await writeFile(join(unfinished, releaseFile), release);
    // Another run may have placed it meanwhile.
    await rename(unfinished, folder).catch(() => checkRelease(folder, digest));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** @throws PoolError `artifact_mismatch` if a file is missing, or another one than the digest stands for */
export async function checkRelease(folder: string, digest: string): Promise<void> {
  const read = (name: string) =>
    readFile(join(folder, name)).catch((cause: unknown) => {
      throw new PoolError('artifact_mismatch', `${join(folder, name)} cannot be read`, { cause });
    });
  const files = readFiles(await read(releaseFile), digest, join(folder, releaseFile));
  for (const [name, expected] of Object.entries(files)) {
    assertDigest(await read(name), expected, join(folder, name));
  }
}

function readFiles(release: Uint8Array, digest: string, where: string): Record<string, string> {
  assertDigest(release, digest, where);
  const parsed = v.safeParse(
    releaseSchema,
    parseStrictJson(new TextDecoder().decode(release), where),
  );
  if (!parsed.success) {
    throw new PoolError('artifact_mismatch', `${where} is no list of a release`);
  }
  return parsed.output.files;
}

function assertDigest(content: Uint8Array, expected: string, where: string): void {
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== expected) {
    throw new PoolError(
      'artifact_mismatch',
      `${where} has the digest ${found}, not ${expected}: it is not of the release that you named. Nothing was opened; remove what is kept of it on this machine, or name the release that you trust`,
    );
  }
}

async function download(url: URL): Promise<Uint8Array> {
  let answer: Response;
  let content: Uint8Array;
  try {
    answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    content = await readLimited(answer, url);
  } catch (cause) {
    if (cause instanceof PoolError) throw cause;
    throw new PoolError('platform_unreachable', `${url.href} cannot be read`, { cause });
  }
  if (!answer.ok) {
    throw new PoolError(
      'not_found',
      `${url.href} answers ${answer.status}: does this platform serve the payee's page?`,
    );
  }
  return content;
}

async function readLimited(answer: Response, url: URL): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > maxFileBytes) {
      throw new PoolError('artifact_mismatch', `${url.href} has more than ${maxFileBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
