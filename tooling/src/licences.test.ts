import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkLicences } from './licences.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pool-licences-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

/** Writes a package and returns its folder. */
function install(path: string, manifest: Record<string, unknown>): string {
  const dir = join(root, path);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest));
  return dir;
}

function messages(dir: string): string[] {
  return checkLicences(dir).problems.map((p) => `${p.path.join(' > ')}: ${p.message}`);
}

describe('checkLicences', () => {
  it('accepts a permissive tree and counts it', () => {
    const app = install('app', { name: 'app', license: 'MIT', dependencies: { a: '1' } });
    install('app/node_modules/a', { name: 'a', license: 'ISC', dependencies: { b: '1' } });
    install('app/node_modules/b', { name: 'b', license: 'Apache-2.0' });
    expect(checkLicences(app)).toEqual({ problems: [], visited: 3 });
  });

  it('finds a GPL package deep in the tree and names its path', () => {
    const app = install('app', { name: 'app', license: 'MIT', dependencies: { a: '1' } });
    install('app/node_modules/a', { name: 'a', license: 'MIT', dependencies: { b: '1' } });
    install('app/node_modules/a/node_modules/b', { name: 'b', license: 'GPL-3.0' });
    expect(messages(app)).toEqual(['app > a > b: licence GPL-3.0 is not permissive']);
  });

  it('follows the links that pnpm makes', () => {
    const app = install('app', { name: 'app', license: 'MIT', dependencies: { a: '1' } });
    const a = install('store/a@1/node_modules/a', {
      name: 'a',
      license: 'MIT',
      dependencies: { '@s/b': '1' },
    });
    install('store/a@1/node_modules/@s/b', { name: '@s/b', license: 'LGPL-3.0' });
    mkdirSync(join(app, 'node_modules'));
    symlinkSync(a, join(app, 'node_modules/a'));
    expect(messages(app)).toEqual(['app > a > @s/b: licence LGPL-3.0 is not permissive']);
    expect(dirname(a)).toContain('store');
  });

  it('ignores development dependencies, and reads a package once', () => {
    const app = install('app', {
      name: 'app',
      license: 'MIT',
      dependencies: { a: '1' },
      devDependencies: { gpl: '1' },
    });
    install('app/node_modules/a', { name: 'a', license: 'MIT', dependencies: { app: '1' } });
    symlinkSync(app, join(app, 'node_modules/app'));
    install('app/node_modules/gpl', { name: 'gpl', license: 'GPL-3.0' });
    expect(checkLicences(app)).toEqual({ problems: [], visited: 2 });
  });

  it('reads optional and peer dependencies if they are installed', () => {
    const app = install('app', {
      name: 'app',
      license: 'MIT',
      optionalDependencies: { a: '1', absent: '1' },
      peerDependencies: { b: '1', gone: '1' },
      peerDependenciesMeta: { gone: { optional: true } },
    });
    install('app/node_modules/a', { name: 'a', license: 'GPL-3.0' });
    install('app/node_modules/b', { name: 'b' });
    expect(messages(app)).toEqual([
      'app > b: states no licence',
      'app > a: licence GPL-3.0 is not permissive',
    ]);
  });

  it('reports a dependency that is not installed', () => {
    const app = install('app', { name: 'app', license: 'MIT', dependencies: { a: '1' } });
    expect(messages(app)).toEqual(['app > a: is not installed']);
  });

  it('does not let a published package reach a private one', () => {
    install('node_modules/engine', { name: 'engine', license: 'MIT', private: true });
    const manifest = { name: 'user', license: 'MIT', dependencies: { engine: '1' } };
    expect(messages(install('user', manifest))).toEqual([
      'user > engine: is private, so a published package cannot depend on it',
    ]);
    expect(messages(install('private-user', { ...manifest, private: true }))).toEqual([]);
  });
});
