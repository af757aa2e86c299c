/**
 * What processes of earlier versions left behind (vectors/stores), unpacked for a test that opens it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const folder = fileURLToPath(new URL('../../../vectors/stores/', import.meta.url));

/** The folder of the deployment that was recorded, in its configuration files. */
const recorded = /\/[^\s"']*\/pool-record-[A-Za-z0-9]+/g;

/** Addresses of its services, where somebody else may listen now. The domain of the sign-in evidence is another line. */
const addresses = /("rpcUrl": "|=)http:\/\/127\.0\.0\.1:\d+/g;

export interface EarlierStores {
  /** Homes of the agents and of the gate, and dumps of the databases. */
  readonly directory: string;
  /** What was paid, and what the processes of that version answered. */
  readonly facts: unknown;
  /** Statements that make the rows of a database again, on a server and in PGlite. */
  readDump(name: 'platform' | 'gate' | 'jobs'): string;
  remove(): void;
}

/** Versions, or days before the first release. */
export function listEarlierVersions(): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
}

/** The OpenAPI documents of a version by their names, such as `edge`. */
export function readEarlierDocuments(version: string): Readonly<Record<string, unknown>> {
  const packed = readFileSync(join(folder, version, 'documents.json.gz'));
  return JSON.parse(gunzipSync(packed).toString()) as Readonly<Record<string, unknown>>;
}

export function unpackEarlierStores(version: string): EarlierStores {
  const directory = mkdtempSync(join(tmpdir(), 'pool-earlier-'));
  execFileSync('tar', ['-xzf', join(folder, version, 'stores.tar.gz'), '-C', directory]);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (/\.env$|^chains\.json$/.test(entry.name)) {
      const path = join(entry.parentPath, entry.name);
      const text = readFileSync(path, 'utf8').replaceAll(recorded, directory);
      writeFileSync(path, text.replaceAll(addresses, '$1http://127.0.0.1:9'));
    }
  }
  return {
    directory,
    facts: JSON.parse(readFileSync(join(folder, version, 'facts.json'), 'utf8')),
    readDump: (name) => readFileSync(join(directory, `${name}.sql`), 'utf8'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
