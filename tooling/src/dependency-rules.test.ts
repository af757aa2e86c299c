// Every rule of .dependency-cruiser.mjs, broken once: all imports are written into one small tree, each in separate files, and cruised
// together with the real rules.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
let root: string;
/** The names of the broken rules, for every checked file. */
let brokenBy: ReadonlyMap<string, readonly string[]>;

type Import = { readonly from: string; readonly to: string };

const breaks: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['core-imports-nothing-of-ours', 'packages/core/src/a.ts', 'packages/notes/src/b.ts'],
  ['kernels-imports-nothing-of-ours', 'packages/kernels/src/a.ts', 'packages/core/src/b.ts'],
  [
    'kernels-are-for-provers-setup-and-scanning',
    'packages/operations/src/a.ts',
    'packages/kernels/src/b.ts',
  ],
  ['api-imports-core-only', 'packages/api/src/a.ts', 'packages/notes/src/b.ts'],
  ['notes-imports-core-and-kernels-only', 'packages/notes/src/a.ts', 'packages/signers/src/b.ts'],
  [
    'policy-imports-core-notes-and-storage-only',
    'packages/policy/src/a.ts',
    'packages/signers/src/b.ts',
  ],
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
  [
    'idempotency-imports-core-and-storage-only',
    'packages/idempotency/src/a.ts',
    'packages/kernels/src/b.ts',
  ],
  [
    'http-server-imports-core-and-tracing-only',
    'packages/http-server/src/a.ts',
    'packages/notes/src/b.ts',
  ],
  [
    'signers-platform-client-circuits-contracts-prover-import-nothing-above',
    'packages/signers/src/a.ts',
    'packages/operations/src/b.ts',
  ],
  [
    'wallet-database-import-nothing-above',
    'packages/database/src/a.ts',
    'packages/relayer/src/b.ts',
  ],
  ['packages-do-not-import-apps', 'packages/operations/src/a.ts', 'apps/agent/src/b.ts'],
  ['apps-do-not-import-apps', 'apps/agent/src/a.ts', 'apps/platform/src/b.ts'],
  ['agent-config-imports-no-room', 'apps/agent/src/config/a.ts', 'apps/agent/src/services/b.ts'],
  ['agent-config-imports-no-room', 'apps/agent/src/config/a.ts', 'apps/agent/src/b.ts'],
  ['agent-state-imports-config-only', 'apps/agent/src/state/a.ts', 'apps/agent/src/services/b.ts'],
  [
    'agent-services-import-config-and-state-only',
    'apps/agent/src/services/a.ts',
    'apps/agent/src/http/b.ts',
  ],
  [
    'agent-http-and-terminal-import-services-only',
    'apps/agent/src/http/a.ts',
    'apps/agent/src/terminal/b.ts',
  ],
  [
    'agent-http-and-terminal-import-services-only',
    'apps/agent/src/terminal/a.ts',
    'apps/agent/src/commands/b.ts',
  ],
  ['agent-rooms-do-not-import-the-root', 'apps/agent/src/commands/a.ts', 'apps/agent/src/b.ts'],
  [
    'operations-check-imports-neither-run-nor-adapters',
    'packages/operations/src/check/a.ts',
    'packages/operations/src/run/b.ts',
  ],
  [
    'operations-check-imports-neither-run-nor-adapters',
    'packages/operations/src/check/a.ts',
    'packages/operations/src/adapters/b.ts',
  ],
  [
    'operations-check-imports-neither-run-nor-adapters',
    'packages/operations/src/check/a.ts',
    'packages/operations/src/peers/b.ts',
  ],
  [
    'operations-run-imports-no-adapter',
    'packages/operations/src/run/a.ts',
    'packages/operations/src/adapters/b.ts',
  ],
  [
    'operations-run-imports-no-adapter',
    'packages/operations/src/run/a.ts',
    'packages/operations/src/peers/b.ts',
  ],
  [
    'operations-adapters-import-ports-only',
    'packages/operations/src/adapters/a.ts',
    'packages/operations/src/check/b.ts',
  ],
  [
    'operations-adapters-import-ports-only',
    'packages/operations/src/adapters/a.ts',
    'packages/operations/src/peers/b.ts',
  ],
  [
    'wallet-browser-imports-nothing-with-node',
    'packages/wallet/src/browser/a.ts',
    'packages/wallet/src/node/b.ts',
  ],
  ['testkit-is-for-tests', 'apps/agent/src/a.ts', 'packages/testkit/src/b.ts'],
  ['production-does-not-import-tooling', 'apps/agent/src/a.ts', 'tooling/src/b.ts'],
  ['custodians-are-for-tests', 'packages/signers/src/a.ts', 'tooling/custodians/custodian-a/b.ts'],
  [
    'custodians-import-nothing-of-ours',
    'tooling/custodians/custodian-a/a.ts',
    'packages/signers/src/b.ts',
  ],
  [
    'custodians-do-not-import-each-other',
    'tooling/custodians/custodian-a/a.ts',
    'tooling/custodians/custodian-b/b.ts',
  ],
  ['no-tests-in-production', 'packages/core/src/a.ts', 'packages/core/src/b.test.ts'],
  ['no-tests-in-production', 'packages/core/src/a.ts', 'packages/core/src/fixtures/b.ts'],
  ['resolvable', 'packages/core/src/a.ts', 'nowhere-to-be-found'],
];

const allowed: readonly (readonly [from: string, to: string])[] = [
  ['apps/agent/src/a.ts', 'packages/operations/src/b.ts'],
  ['apps/agent/src/a.ts', 'packages/core/src/b.ts'],
  ['apps/platform/src/a.ts', 'packages/http-server/src/b.ts'],
  ['packages/http-server/src/a.ts', 'packages/core/src/b.ts'],
  ['packages/http-server/src/a.test.ts', 'packages/testkit/src/b.ts'],
  ['packages/operations/src/a.ts', 'packages/prover/src/b.ts'],
  ['packages/signers/src/a.ts', 'packages/notes/src/b.ts'],
  ['packages/notes/src/a.ts', 'packages/core/src/b.ts'],
  ['packages/api/src/a.ts', 'packages/core/src/b.ts'],
  ['packages/operations/src/a.ts', 'packages/api/src/b.ts'],
  ['packages/notes/src/a.ts', 'packages/kernels/src/b.ts'],
  ['packages/prover/src/a.ts', 'packages/kernels/src/b.ts'],
  ['packages/circuits/src/a.ts', 'packages/kernels/src/b.ts'],
  ['packages/core/src/a.test.ts', 'node:fs'],
  ['packages/core/src/a.test.ts', 'packages/testkit/src/b.ts'],
  ['packages/prover/src/a.test.ts', 'packages/testkit/src/b.ts'],
  ['apps/sandbox/src/a.ts', 'packages/testkit/src/b.ts'],
  ['apps/sandbox/src/a.test.ts', 'tooling/browser/b.ts'],
  ['packages/signers/src/a.test.ts', 'tooling/custodians/custodian-a/b.ts'],
  ['packages/approve/src/a.test.ts', 'tooling/custodians/custodian-b/b.ts'],
  ['apps/sandbox/src/a.ts', 'tooling/custodians/custodian-a/b.ts'],
  ['tooling/custodians/custodian-a/a.ts', 'tooling/custodians/b.ts'],
  ['apps/agent/src/fixtures/a.ts', 'packages/testkit/src/b.ts'],
  ['apps/agent/src/config/a.ts', 'apps/agent/src/config/b.ts'],
  ['apps/agent/src/services/a.ts', 'apps/agent/src/config/b.ts'],
  ['apps/agent/src/services/a.ts', 'apps/agent/src/state/b.ts'],
  ['apps/agent/src/state/a.ts', 'apps/agent/src/config/b.ts'],
  ['apps/agent/src/http/a.ts', 'apps/agent/src/services/b.ts'],
  ['apps/agent/src/terminal/a.ts', 'apps/agent/src/services/b.ts'],
  ['apps/agent/src/commands/a.ts', 'packages/pay-run/src/b.ts'],
  ['apps/agent/src/a.ts', 'apps/agent/src/commands/b.ts'],
  ['apps/agent/src/config/a.test.ts', 'apps/agent/src/commands/b.ts'],
  ['packages/operations/src/run/a.ts', 'packages/operations/src/check/b.ts'],
  ['packages/operations/src/spend/a.ts', 'packages/operations/src/check/b.ts'],
  ['packages/operations/src/adapters/a.ts', 'packages/operations/src/b.ts'],
];

const cycle = ['packages/core/src/cycle-a.ts', 'packages/core/src/cycle-b.ts'] as const;

/** The import of one case, in files that no other case has. */
function nameFiles(from: string, to: string, unique: string): Import {
  const rename = (path: string): string =>
    path.replace(/\/(a|b)(?=\.(test\.)?ts$)/, `/${unique}-$1`);
  return { from: rename(from), to: rename(to) };
}

const breaking = breaks.map(([, from, to], index) => nameFiles(from, to, `break-${index}`));
const innocent = allowed.map(([from, to], index) => nameFiles(from, to, `allow-${index}`));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function writeImport({ from, to }: Import): void {
  const isFile = /^(packages|apps|tooling)\//.test(to);
  if (isFile) {
    write(to, 'export const x = 1;\n');
  }
  const specifier = isFile ? join(root, to) : to;
  write(from, `import * as other from '${specifier}';\nexport const y = other;\n`);
}

function cruise(): ReadonlyMap<string, readonly string[]> {
  const output = execFileSync(
    join(repository, 'node_modules/.bin/depcruise'),
    ['--config=.dependency-cruiser.mjs', '--output-type=json', 'packages', 'apps', 'tooling'],
    { cwd: root, encoding: 'utf8' },
  );
  const result = JSON.parse(output) as {
    readonly modules: readonly { readonly source: string }[];
    readonly summary: {
      readonly violations: readonly {
        readonly from: string;
        readonly rule: { readonly name: string };
      }[];
    };
  };
  const broken = new Map<string, string[]>(result.modules.map(({ source }) => [source, []]));
  for (const { from, rule } of result.summary.violations) {
    broken.set(from, [...new Set([...(broken.get(from) ?? []), rule.name])]);
  }
  return broken;
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'pool-rules-'));
  writeFileSync(join(root, 'tsconfig.json'), '{"compilerOptions":{"module":"nodenext"}}');
  cpSync(join(repository, '.dependency-cruiser.mjs'), join(root, '.dependency-cruiser.mjs'));
  for (const each of [...breaking, ...innocent]) {
    writeImport(each);
  }
  write(cycle[0], "export { b } from './cycle-b.ts';\nexport const a = 1;\n");
  write(cycle[1], "export { a } from './cycle-a.ts';\nexport const b = 1;\n");
  brokenBy = cruise();
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

describe('a dependency rule', () => {
  it.each(
    breaks.map(([rule, from, to], index) => ({
      rule,
      from,
      to,
      file: breaking[index]?.from ?? '',
    })),
  )('$rule fails if $from imports $to', ({ rule, file }) => {
    expect(brokenBy.get(file)).toContain(rule);
  });

  it('no-cycles fails on a cycle', () => {
    expect(cycle.flatMap((file) => brokenBy.get(file) ?? [])).toContain('no-cycles');
  });

  it.each(allowed.map(([from, to], index) => ({ from, to, file: innocent[index]?.from ?? '' })))(
    'lets $from import $to',
    ({ file }) => {
      expect(brokenBy.get(file)).toEqual([]);
    },
  );
});
