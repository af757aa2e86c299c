// `pnpm check`: everything about the repository that a tool can check, read-only. All checks run, even after a failure, and
// every failure is shown at the end. On a terminal each check reports as it ends; in a pipe only failures and the
// summary are written. `pnpm check format types` runs only those two. `pnpm fix` repairs what a tool can repair.
import { join, resolve } from 'node:path';
import { findForge } from '../../packages/contracts/scripts/forge.ts';
import { checkAllLicences, checkBannedWords, checkPackageFiles } from '../src/house-checks.ts';
import { run } from '../src/processes.ts';

const root = resolve(import.meta.dirname, '../..');
const concurrency = 2;
/** If several checks run, each shows at most this number of characters. */
const shownLines = 80;

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

interface Check {
  readonly name: string;
  readonly what: string;
  readonly run: () => Promise<Outcome>;
}

/** A check that is a program: its exit status decides. */
async function program(command: string, args: readonly string[], cwd = root): Promise<Outcome> {
  const env = { NO_COLOR: '1', DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' };
  const { status, combined } = await run(command, args, { cwd, env, output: 'collect' });
  return { ok: status === 0, output: combined };
}

/** A program from the root's development dependencies. */
function tool(name: string, ...args: string[]): () => Promise<Outcome> {
  return () => program(join(root, 'node_modules/.bin', name), args);
}

/** Both must pass. */
function inTurn(first: Check['run'], second: Check['run']): Check['run'] {
  return async () => {
    const outcome = await first();
    return outcome.ok ? await second() : outcome;
  };
}

/** One of our own checks: it fails if it finds a problem. */
function house(find: (root: string) => string[]) {
  return (): Promise<Outcome> => {
    const complaints = find(root);
    return Promise.resolve({ ok: complaints.length === 0, output: complaints.join('\n') });
  };
}

const checks: readonly Check[] = [
  {
    name: 'types',
    what: 'TypeScript, strict; the page with the types of browsers',
    run: inTurn(tool('tsc', '-p', 'tsconfig.json'), tool('tsc', '-p', 'apps/payee')),
  },
  { name: 'lint', what: 'the rules of the house', run: tool('eslint', '--max-warnings=0', '.') },
  {
    name: 'format',
    what: 'formatting, imports, everyday lint',
    run: tool('biome', 'ci', '--colors=off', '--error-on-warnings', '--max-diagnostics=50', '.'),
  },
  {
    name: 'dependencies',
    what: 'who imports whom',
    run: tool(
      'depcruise',
      '--config=.dependency-cruiser.mjs',
      '--output-type=err',
      'packages',
      'apps',
      'tooling',
    ),
  },
  {
    name: 'unused',
    what: 'unused files, exports and dependencies',
    run: tool('knip', '--no-config-hints'),
  },
  { name: 'versions', what: 'one version of each dependency', run: tool('sherif') },
  { name: 'licences', what: 'the production tree', run: house(checkAllLicences) },
  {
    name: 'packages',
    what: 'the required files and fields of every package',
    run: house(checkPackageFiles),
  },
  { name: 'words', what: 'no word that names one machine', run: house(checkBannedWords) },
  {
    name: 'solidity',
    what: 'forge fmt',
    run: async () =>
      await program(findForge(), ['fmt', '--check'], join(root, 'packages/contracts')),
  },
  {
    name: 'documents',
    what: 'the OpenAPI documents, by the strict rules of Redocly',
    run: tool(
      'redocly',
      'lint',
      '--extends=recommended-strict',
      '--format=stylish',
      'docs/api/*.json',
    ),
  },
  {
    name: 'generated',
    what: 'generated files are up to date',
    run: tool('turbo', 'run', 'generate:check', '--output-logs=errors-only', '--continue'),
  },
];

/** The first lines of a text, and how to see the rest. */
function shorten(text: string, name: string): string {
  const lines = text.trim().split('\n');
  if (lines.length <= shownLines) return lines.join('\n');
  const rest = lines.length - shownLines;
  return [...lines.slice(0, shownLines), `… ${rest} more lines: pnpm check ${name}`].join('\n');
}

async function runChecks(wanted: readonly string[]): Promise<number> {
  const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    const names = checks.map((check) => check.name).join(', ');
    process.stderr.write(`there is no check ${unknown.join(', ')}; the checks are ${names}\n`);
    return 2;
  }
  const isTerminal = process.stdout.isTTY;
  const queue = checks.filter((check) => wanted.length === 0 || wanted.includes(check.name));
  const failed: (Check & { readonly output: string })[] = [];
  const total = queue.length;

  async function work(): Promise<void> {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      const startedAt = performance.now();
      // A check that throws has failed.
      const attempt = async () => await check.run();
      const outcome = await attempt().catch((error: unknown) => ({
        ok: false,
        output: error instanceof Error ? (error.stack ?? error.message) : 'failed',
      }));
      if (!outcome.ok) failed.push({ ...check, output: outcome.output });
      if (isTerminal) {
        const mark = outcome.ok ? 'ok    ' : 'FAILED';
        const seconds = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`.padStart(7);
        process.stdout.write(`${mark} ${seconds}  ${check.name} (${check.what})\n`);
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));

  for (const { name, what, output } of failed) {
    process.stdout.write(
      `\n── ${name}: ${what}\n${total === 1 ? output.trim() : shorten(output, name)}\n`,
    );
  }
  const names = failed.map(({ name }) => name).join(', ');
  const summary =
    failed.length === 0
      ? `all ${total} checks passed`
      : `${failed.length} of ${total} checks failed: ${names} (pnpm fix repairs what a tool can repair)`;
  process.stdout.write(`${failed.length === 0 ? '' : '\n'}${summary}\n`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await runChecks(process.argv.slice(2));
