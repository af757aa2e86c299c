// One Vitest configuration for the repository, with five projects:
//   unit      everything beside the source (`x.test.ts`, `x.prop.test.ts`), three workers (tests also wait for timers and processes).
//             Files share the process of their worker and the modules that it has loaded, so a test leaves no state in a module, in
//             `process.env` or in a timer;
//   postgres  the files about databases once more, on a real PostgreSQL server in place of the embedded one or of SQLite;
//   e2e       `x.e2e.test.ts`: real processes and a real chain, three files at a time (each waits for blocks part of its time), after
//             the unit tests. Most deployments keep their rows on one PostgreSQL server, which costs half as much as embedded ones,
//             and their programs are bundles (tooling/src/bundle-programs.ts), which start three times as fast;
//   unit-slow, e2e-slow  the files that `npm test` leaves out (tooling/src/slow-tests.ts). `.ci/run` runs them, `pnpm test:full` a few more.
// Packages resolve to their TypeScript sources through the condition `@pool/source`: tests need no build.
import { defineConfig } from 'vitest/config';
import {
  BaseSequencer,
  type TestSequencer,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import {
  fullTests,
  longestTests,
  slowEndToEndTests,
  slowUnitTests,
} from './tooling/src/slow-tests.ts';
import { fullRunVariable, reportFile, summaryReporter } from './tooling/src/summary.ts';

const sourceCondition = '@pool/source';
const jsonReporters: ['json', { outputFile: string }][] =
  reportFile === '' ? [] : [['json', { outputFile: reportFile }]];
const ignored = [
  '**/node_modules/**',
  '**/dist/**',
  '**/.cache/**',
  '**/.sandbox/**',
  'packages/contracts/lib/**',
];

const notNow = [...ignored, ...(process.env[fullRunVariable] === '1' ? [] : fullTests)];

/** The longest files of a group start first. Vitest knows times of earlier runs only, and orders by size in a fresh clone. */
class LongestFirst implements TestSequencer {
  readonly #base: BaseSequencer;

  constructor(vitest: Vitest) {
    this.#base = new BaseSequencer(vitest);
  }

  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return await this.#base.shard(files);
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification): number =>
      2 * project.config.sequence.groupOrder + (longestTests.test(moduleId) ? 0 : 1);
    return (await this.#base.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

const unit = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // For what never becomes true. On a machine that has other work, a process can be without a processor for many seconds.
  expect: { poll: { timeout: 45_000 } },
  sequence: { groupOrder: 0 },
};

// Limits for what never ends, or never becomes true. On a busy machine a process can be without a processor for a minute.
const endToEnd = {
  testTimeout: 1_200_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 240_000 } },
  maxWorkers: 3,
  globalSetup: ['packages/database/test/postgres-setup.ts', 'tooling/src/bundle-programs.ts'],
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  resolve: { conditions: [sourceCondition, 'node', 'development|production'] },
  ssr: {
    resolve: {
      conditions: [sourceCondition, 'node', 'development|production'],
      externalConditions: [sourceCondition, 'node', 'module-sync'],
    },
  },
  test: {
    pool: 'forks',
    execArgv: [`--conditions=${sourceCondition}`],
    maxWorkers: 3,
    retry: 0,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', ...jsonReporters, summaryReporter],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,apps,examples}/*/**/*.test.ts', 'tooling/**/*.test.ts'],
          exclude: [...ignored, '**/*.e2e.test.ts', ...slowUnitTests],
          isolate: false,
          ...unit,
        },
      },
      {
        extends: true,
        test: { name: 'unit-slow', include: [...slowUnitTests], exclude: notNow, ...unit },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [
            'apps/agent/test/pay-run/{pay-run-claim,pay-run-hazards}',
            'apps/platform/src/accounts/employer-routes',
            'apps/platform/src/database/races',
            'apps/platform/src/edge/withdrawal',
            'apps/platform/src/enrolment/key-rotation',
            'packages/database/src/shared-limiter',
            'packages/idempotency/src/{job-store,job-store.prop}',
            'packages/pay-run/src/ledger/pay-run-ledger',
            'packages/pay-run/src/release/release-log',
            'packages/pay-run/src/schedule/schedule-{hazards,worker}',
            'packages/pool-gate/src/{gate-app,leaves,past-lists,two-gates}',
            'packages/relayer/src/accept/redeliver-notes',
            'packages/relayer/src/indexer/indexer',
            'packages/relayer/src/send/{erase-dead-notes,nonces,settlement-flow,several-keys,spend-flow}',
            'packages/webhooks/src/two-agents',
            'tooling/model/replay',
          ].map((file) => `${file}.test.ts`),
          exclude: ignored,
          globalSetup: 'packages/database/test/postgres-setup.ts',
          ...unit,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['{packages,apps,examples}/*/**/*.e2e.test.ts', 'tooling/**/*.e2e.test.ts'],
          exclude: [...ignored, ...slowEndToEndTests],
          ...endToEnd,
        },
      },
      {
        extends: true,
        test: { name: 'e2e-slow', include: [...slowEndToEndTests], exclude: notNow, ...endToEnd },
      },
    ],
  },
});
