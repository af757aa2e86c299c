// The packages of this workspace, read from their package.json files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders whose children are packages; workspace.test.ts checks that they match pnpm-workspace.yaml. */
export const packageParents = ['packages', 'apps', 'examples'] as const;

/** One entry of `exports`: its source, its declarations and the built module. */
export interface PackageEntry {
  readonly '@pool/source'?: string;
  readonly types?: string;
  readonly default?: string;
}

/** The fields of a package.json that our tools read. */
export interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly packageManager?: string;
  readonly license?: unknown;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly bugs?: { readonly url?: string };
  readonly repository?: {
    readonly type?: string;
    readonly url?: string;
    readonly directory?: string;
  };
  /** False, or the files that do something when they are loaded. */
  readonly sideEffects?: boolean | readonly string[];
  readonly exports?: Readonly<Record<string, PackageEntry | string>>;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean };
}

export interface WorkspacePackage {
  readonly name: string;
  /** Absolute path of the package's folder. */
  readonly dir: string;
  readonly isPrivate: boolean;
  readonly manifest: PackageJson;
}

/** Reads a package.json; throws when it is missing or not JSON. */
export function readManifest(dir: string): PackageJson {
  return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as PackageJson;
}

/** Every package below the workspace root, in path order. Folders without a package.json are not packages. */
export function listWorkspacePackages(root: string): WorkspacePackage[] {
  return packageParents.flatMap((parent) => {
    const parentDir = join(root, parent);
    if (!existsSync(parentDir)) return [];
    return readdirSync(parentDir)
      .sort()
      .map((child) => join(parentDir, child))
      .filter((dir) => existsSync(join(dir, 'package.json')))
      .map((dir) => {
        const manifest = readManifest(dir);
        if (manifest.name === undefined) throw new Error(`${dir}/package.json has no name`);
        return { name: manifest.name, dir, isPrivate: manifest.private === true, manifest };
      });
  });
}
