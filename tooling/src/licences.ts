// Walks the production dependency tree of a package as it is installed and reports every licence that an MIT
// package must not depend on. It reads node_modules the way Node does, so it sees the same packages as a user.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPermissive, readLicence } from './licence-expression.ts';
import { type PackageJson, readManifest } from './workspace.ts';

export interface LicenceProblem {
  /** Names from the checked package down to the package with the problem. */
  readonly path: readonly string[];
  readonly message: string;
}

export interface LicenceReport {
  readonly problems: readonly LicenceProblem[];
  /** Number of installed packages that were checked, including the first one. */
  readonly visited: number;
}

/** The folder that Node would resolve `name` to from `fromDir`, symbolic links followed. */
function findInstalled(name: string, fromDir: string): string | undefined {
  for (let dir = fromDir; ; dir = dirname(dir)) {
    const candidate = join(dir, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (dir === dirname(dir)) return undefined;
  }
}

/** Dependencies a user of the package installs, each with whether it may be absent. */
function productionDependencies(manifest: PackageJson): Map<string, boolean> {
  const result = new Map<string, boolean>();
  for (const name of Object.keys(manifest.peerDependencies ?? {})) {
    result.set(name, manifest.peerDependenciesMeta?.[name]?.optional === true);
  }
  for (const name of Object.keys(manifest.dependencies ?? {})) result.set(name, false);
  for (const name of Object.keys(manifest.optionalDependencies ?? {})) result.set(name, true);
  return result;
}

/** Checks the package in `packageDir` and everything below it; development dependencies do not count. */
export function checkLicences(packageDir: string): LicenceReport {
  const problems: LicenceProblem[] = [];
  const visited = new Set<string>();
  const start = realpathSync(packageDir);
  const startIsPublished = readManifest(start).private !== true;

  function visit(dir: string, parents: readonly string[]): void {
    if (visited.has(dir)) return;
    visited.add(dir);
    const manifest = readManifest(dir);
    const name = manifest.name ?? dir;
    const path = [...parents, name];
    const licence = readLicence(manifest);
    if (licence === undefined) {
      problems.push({ path, message: 'states no licence' });
    } else if (!isPermissive(licence)) {
      problems.push({ path, message: `licence ${licence} is not permissive` });
    }
    if (startIsPublished && manifest.private === true) {
      problems.push({ path, message: 'is private, so a published package cannot depend on it' });
    }
    for (const [dependency, mayBeAbsent] of productionDependencies(manifest)) {
      const installed = findInstalled(dependency, dir);
      if (installed !== undefined) visit(installed, path);
      else if (!mayBeAbsent) {
        problems.push({ path: [...path, dependency], message: 'is not installed' });
      }
    }
  }

  visit(start, []);
  return { problems, visited: visited.size };
}
