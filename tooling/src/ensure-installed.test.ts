// `npm start` and `npm test` install only if an input of the install has changed. Tested in a copy with a fake `npx`.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = 'tooling/scripts/ensure-installed.mjs';
const original = join(import.meta.dirname, '../..', script);

describe('ensure-installed', () => {
  let root: string;
  const at = (path: string) => join(root, path);
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text, { mode });
  };
  const countInstalls = () =>
    existsSync(at('installs')) ? readFileSync(at('installs'), 'utf8').split('\n').length - 1 : 0;
  const ensure = () =>
    spawnSync(process.execPath, [at(script)], {
      cwd: root,
      env: { PATH: `${at('programs')}:${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
    });

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'pool-install-')));
    for (const room of ['packages/kernels', 'apps/agent', 'examples/client', 'tooling', '.']) {
      put(join(room, 'package.json'), '{}');
    }
    put('pnpm-lock.yaml', 'lock');
    put('pnpm-workspace.yaml', 'workspace');
    put('packages/kernels/scripts/build-wasm.ts', '');
    mkdirSync(at('tooling/scripts'));
    copyFileSync(original, at(script));
    put(
      'programs/npx',
      `#!/bin/sh
echo "$@" >> installs
[ ! -e broken ] || exit 3
for room in . tooling packages/kernels apps/agent examples/client; do mkdir -p $room/node_modules; done
mkdir -p node_modules/.pnpm node_modules/node/bin
echo installed > node_modules/.modules.yaml
echo lock > node_modules/.pnpm/lock.yaml
`,
      0o755,
    );
    mkdirSync(at('node_modules/node/bin'), { recursive: true });
    symlinkSync(process.execPath, at('node_modules/node/bin/node'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('installs the locked versions on a fresh clone, and not again', () => {
    expect(ensure()).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(at('installs'), 'utf8')).toBe(
      '--yes pnpm@10.34.9 install --frozen-lockfile\n',
    );
    expect(ensure()).toMatchObject({ status: 0, stderr: '' });
    expect(countInstalls()).toBe(1);
  });

  it.each([
    ['the lockfile changed', 'pnpm-lock.yaml'],
    ['the workspace file changed', 'pnpm-workspace.yaml'],
    ['the manifest of a package changed', 'apps/agent/package.json'],
    ['another install ran', 'node_modules/.modules.yaml'],
  ])('installs again when %s', (_what, file) => {
    ensure();
    appendFileSync(at(file), ' ');
    ensure();
    ensure();
    expect(countInstalls()).toBe(2);
  });

  it('installs again when the modules of a package are missing', () => {
    ensure();
    rmSync(at('apps/agent/node_modules'), { recursive: true });
    ensure();
    expect(countInstalls()).toBe(2);
  });

  it('ends with the status of a failed install, and installs at the next start', () => {
    put('broken', '');
    expect(ensure().status).toBe(3);
    rmSync(at('broken'));
    expect(ensure().status).toBe(0);
    expect(countInstalls()).toBe(2);
  });

  it('makes the kernels again without an install', () => {
    ensure();
    put(
      'packages/kernels/scripts/build-wasm.ts',
      "import { writeFileSync } from 'node:fs'; writeFileSync('made', '');",
    );
    expect(ensure().status).toBe(0);
    expect([countInstalls(), existsSync(at('made'))]).toEqual([1, true]);
  });
});
