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

/** Writes a package and answers its folder. */
function install(path: string, manifest: Record<string, unknown>): string {
  const dir = join(root, path);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest));
  return dir;
}

const messages = (dir: string, exceptions: Parameters<typeof checkLicences>[1] = []): string[] =>
  checkLicences(dir, exceptions).problems.map((p) => `${p.path.join(' > ')}: ${p.message}`);

describe('checkLicences', () => {
  it('accepts a permissive tree and counts it', () => {
    const app = install('app', { name: 'app', license: 'MIT', dependencies: { a: '1' } });
    install('app/node_modules/a', { name: 'a', license: 'ISC', dependencies: { b: '1' } });
    install('app/node_modules/b', { name: 'b', license: 'Apache-2.0' });
    expect(checkLicences(app, [])).toEqual({ problems: [], used: [], visited: 3 });
  });

  it('finds a GPL package deep in the tree and names the way to it', () => {
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

  it('does not look at development dependencies, nor at a package twice', () => {
    const app = install('app', {
      name: 'app',
      license: 'MIT',
      dependencies: { a: '1' },
      devDependencies: { gpl: '1' },
    });
    install('app/node_modules/a', { name: 'a', license: 'MIT', dependencies: { app: '1' } });
    symlinkSync(app, join(app, 'node_modules/app'));
    install('app/node_modules/gpl', { name: 'gpl', license: 'GPL-3.0' });
    expect(checkLicences(app, [])).toEqual({ problems: [], used: [], visited: 2 });
  });

  it('looks at optional and peer dependencies when they are installed', () => {
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

  describe('the named exception', () => {
    const exceptions = [{ of: 'engine', name: 'gpl' }];
    const engine = { name: 'engine', license: 'MIT', dependencies: { gpl: '1' } };

    beforeEach(() => {
      install('node_modules/gpl', { name: 'gpl', license: 'GPL-3.0', dependencies: { x: '1' } });
    });

    it('covers the dependency and its tree while the package is private', () => {
      const dir = install('engine', { ...engine, private: true });
      expect(checkLicences(dir, exceptions)).toEqual({
        problems: [],
        used: exceptions,
        visited: 1,
      });
    });

    it('does not cover a published package', () => {
      const dir = install('engine', engine);
      expect(messages(dir, exceptions)).toEqual([
        'engine > gpl: is a licence exception of engine, which must stay private',
      ]);
    });

    it('does not cover the same dependency of another package', () => {
      const dir = install('other', { ...engine, name: 'other', private: true });
      expect(messages(dir, exceptions)).toContain('other > gpl: licence GPL-3.0 is not permissive');
    });

    it('does not let a published package reach the private one', () => {
      install('node_modules/engine', { ...engine, private: true });
      const dir = install('user', { name: 'user', license: 'MIT', dependencies: { engine: '1' } });
      expect(messages(dir, exceptions)).toEqual([
        'user > engine: is private, so a published package cannot depend on it',
      ]);
    });
  });
});
