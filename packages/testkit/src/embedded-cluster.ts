/**
 * Empty PGlite clusters, copied from a template. Initialising a cluster takes seconds, a copy takes a fraction of
 * one. The template is made once for each version of PGlite.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { ensureTemplate } from './cluster-template.ts';

/** Gives a data directory that has no database yet an empty cluster, which the platform or the gate then migrates. */
export async function placeEmptyCluster(dataDirectory: string): Promise<void> {
  const template = await ensureCluster();
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const database = join(dataDirectory, 'database');
  cpSync(join(template, 'cluster'), database, {
    recursive: true,
    errorOnExist: true,
    force: false,
  });
}

/** An empty cluster in memory. */
export async function openEmptyCluster(): Promise<PGlite> {
  const template = await ensureCluster();
  const { PGlite } = await import('@electric-sql/pglite');
  return await PGlite.create({
    loadDataDir: new Blob([readFileSync(join(template, 'cluster.tar'))]),
  });
}

async function ensureCluster(): Promise<string> {
  return await ensureTemplate(`pglite-${readVersion()}`, async (made) => {
    const { PGlite } = await import('@electric-sql/pglite');
    const original = await PGlite.create(join(made, 'cluster'));
    const tar = await original.dumpDataDir('none');
    await original.close();
    writeFileSync(join(made, 'cluster.tar'), new Uint8Array(await tar.arrayBuffer()));
  });
}

function readVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const manifest: unknown = JSON.parse(
    readFileSync(join(dirname(entry), '../package.json'), 'utf8'),
  );
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : undefined;
  if (typeof version !== 'string') {
    throw new TypeError(`${entry} has no package.json with a version beside it`);
  }
  return version;
}
