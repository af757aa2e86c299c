// Every rule of .dependency-cruiser.mjs, broken once: a small tree is written for each and cruised with the real rules.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pool-rules-'));
  writeFileSync(join(root, 'tsconfig.json'), '{"compilerOptions":{"module":"nodenext"}}');
  cpSync(join(repository, '.dependency-cruiser.mjs'), join(root, '.dependency-cruiser.mjs'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Writes `from` so that it imports `to`, and answers the names of the rules that this breaks. */
function brokenBy(from: string, to: string): string[] {
  if (to.startsWith('packages') || to.startsWith('apps') || to.startsWith('tooling')) {
    write(to, 'export const x = 1;\n');
  }
  const specifier = to.includes('/') && !to.includes(':') ? join(root, to) : to;
  write(from, `import * as other from '${specifier}';\nexport const y = other;\n`);
  return cruise();
}

function cruise(): string[] {
  const folders = ['packages', 'apps', 'tooling'];
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  const output = execFileSync(
    join(repository, 'node_modules/.bin/depcruise'),
    ['--config=.dependency-cruiser.mjs', '--output-type=json', ...folders],
    { cwd: root, encoding: 'utf8' },
  );
  const result = JSON.parse(output) as {
    readonly summary: {
      readonly violations: readonly { readonly rule: { readonly name: string } }[];
    };
  };
  return [...new Set(result.summary.violations.map(({ rule }) => rule.name))].sort();
}

const breaks: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['core-imports-nothing-of-ours', 'packages/core/src/a.ts', 'packages/notes/src/b.ts'],
  ['kernels-imports-nothing-of-ours', 'packages/kernels/src/a.ts', 'packages/core/src/b.ts'],
  [
    'kernels-are-for-provers-setup-and-scanning',
    'packages/operations/src/a.ts',
    'packages/kernels/src/b.ts',
  ],
  ['notes-imports-core-and-kernels-only', 'packages/notes/src/a.ts', 'packages/signers/src/b.ts'],
  [
    'lower-room-tests-import-testkit-only',
    'packages/notes/src/a.test.ts',
    'packages/signers/src/b.ts',
  ],
  ['pure-rooms-do-no-io', 'packages/notes/src/a.ts', 'node:fs'],
  [
    'lower-room-tests-import-testkit-only',
    'packages/kernels/src/a.test.ts',
    'packages/prover/src/b.ts',
  ],
  ['prover-imports-kernels-only', 'packages/prover/src/a.ts', 'packages/core/src/b.ts'],
  ['idempotency-stands-alone', 'packages/idempotency/src/a.ts', 'packages/kernels/src/b.ts'],
  ['http-server-stands-alone', 'packages/http-server/src/a.ts', 'packages/core/src/b.ts'],
  [
    'adapters-do-not-import-each-other',
    'packages/http-server/src/a.ts',
    'packages/idempotency/src/b.ts',
  ],
  ['adapters-do-not-import-each-other', 'packages/signers/src/a.ts', 'packages/prover/src/b.ts'],
  ['adapters-do-not-import-upwards', 'packages/signers/src/a.ts', 'packages/operations/src/b.ts'],
  [
    'pipelines-do-not-import-each-other',
    'packages/approve/src/a.ts',
    'packages/operations/src/b.ts',
  ],
  ['packages-do-not-import-apps', 'packages/operations/src/a.ts', 'apps/agent/src/b.ts'],
  ['apps-do-not-import-apps', 'apps/agent/src/a.ts', 'apps/platform/src/b.ts'],
  ['testkit-is-for-tests', 'apps/agent/src/a.ts', 'packages/testkit/src/b.ts'],
  ['production-does-not-import-tooling', 'apps/agent/src/a.ts', 'tooling/src/b.ts'],
  ['no-tests-in-production', 'packages/core/src/a.ts', 'packages/core/src/b.test.ts'],
  ['no-tests-in-production', 'packages/core/src/a.ts', 'packages/core/src/fixtures/b.ts'],
  ['resolvable', 'packages/core/src/a.ts', 'nowhere-to-be-found'],
];

describe('a dependency rule', () => {
  it.each(breaks)('%s bites', (rule, from, to) => {
    expect(brokenBy(from, to)).toContain(rule);
  });

  it('no-cycles bites', () => {
    write('packages/core/src/a.ts', "export { b } from './b.ts';\nexport const a = 1;\n");
    write('packages/core/src/b.ts', "export { a } from './a.ts';\nexport const b = 1;\n");
    expect(cruise()).toEqual(['no-cycles']);
  });

  const allowed: readonly (readonly [from: string, to: string])[] = [
    ['apps/agent/src/a.ts', 'packages/operations/src/b.ts'],
    ['apps/agent/src/a.ts', 'packages/core/src/b.ts'],
    ['apps/platform/src/a.ts', 'packages/http-server/src/b.ts'],
    ['packages/http-server/src/a.test.ts', 'packages/testkit/src/b.ts'],
    ['packages/operations/src/a.ts', 'packages/prover/src/b.ts'],
    ['packages/signers/src/a.ts', 'packages/notes/src/b.ts'],
    ['packages/notes/src/a.ts', 'packages/core/src/b.ts'],
    ['packages/notes/src/a.ts', 'packages/kernels/src/b.ts'],
    ['packages/prover/src/a.ts', 'packages/kernels/src/b.ts'],
    ['packages/circuits/src/a.ts', 'packages/kernels/src/b.ts'],
    ['packages/core/src/a.test.ts', 'node:fs'],
    ['packages/core/src/a.test.ts', 'packages/testkit/src/b.ts'],
    ['packages/prover/src/a.test.ts', 'packages/testkit/src/b.ts'],
    ['apps/sandbox/src/a.ts', 'packages/testkit/src/b.ts'],
    ['apps/agent/src/fixtures/a.ts', 'packages/testkit/src/b.ts'],
  ];
  it.each(allowed)('lets %s import %s', (from, to) => {
    expect(brokenBy(from, to)).toEqual([]);
  });
});
