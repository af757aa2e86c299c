// `pnpm check:packages`: builds every published package and checks the files that a user installs. publint reads the
// packed files and their exports; attw resolves the types the way TypeScript does; then the built package is
// imported, by its own name, by a Node that does not resolve to our sources. Builds are cached by turbo.
// The prover is installed by npm alone and proves under every runtime, and in pages by four bundlers. With `--full` also in Next.js, whose
// install and build take a minute of processor time.
// The gate is packed into one directory as docs/operations/approve.md does, and reads its example policy there.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { run } from '../src/processes.ts';
import { listWorkspacePackages, type WorkspacePackage } from '../src/workspace.ts';
import { checkPackedNext } from './packed-next.ts';
import { checkPackedPage } from './packed-page.ts';
import { checkPackedProver } from './packed-prover.ts';

const root = resolve(import.meta.dirname, '../..');
const concurrency = 2;
function bin(name: string): string {
  return join(root, 'node_modules/.bin', name);
}
const failures: string[] = [];

async function step(name: string, command: string, args: readonly string[], cwd = root) {
  const env = { NO_COLOR: '1', DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' };
  const { status, combined } = await run(command, args, { cwd, env, output: 'collect' });
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  if (status !== 0) failures.push(`── ${name}\n${combined.trim()}`);
}

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly packageManager: string;
};
async function pnpm(name: string, ...args: string[]) {
  await step(name, 'npx', ['--yes', packageManager, ...args]);
}

async function checkPackage({ name: packageName, dir }: WorkspacePackage) {
  const name = relative(root, dir);
  const tarball = join(tarballs, `${packageName.replace('@', '').replace('/', '-')}.tgz`);
  await step(`publint ${name}`, bin('publint'), ['--strict', tarball]);
  await step(`attw ${name}`, bin('attw'), [
    tarball,
    ...['--profile', 'esm-only', '--format', 'ascii'],
  ]);
  const importing = `await import('${packageName}')`;
  await step(`import ${name}`, process.execPath, ['--input-type=module', '--eval', importing], dir);
}

async function checkInstalled(
  name: string,
  check: (tarballs: readonly string[]) => Promise<string[]>,
) {
  const found = await check(['kernels', 'prover'].map((one) => join(tarballs, `pool-${one}.tgz`)));
  process.stdout.write(`${found.length === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  failures.push(...found.map((text) => `── ${name}: ${text.trim()}`));
}

async function checkGate() {
  const packed = realpathSync(mkdtempSync(join(tmpdir(), 'pool-approve-')));
  await pnpm(
    'pack apps/approve',
    ...['--filter', '@pool/approve-gate', 'deploy', '--prod', '--legacy', packed],
  );
  // It may read nothing outside the directory. It judges the example, whose only errors are its placeholders.
  const lint = `APPROVE_HOME=. "${process.execPath}" --permission --allow-fs-read="$PWD" dist/main.js policy lint deploy/policy.example.json`;
  const isPlaceholder = 'This is a placeholder of an example';
  await step(
    'run apps/approve as packed',
    'bash',
    [
      '-c',
      `found="$(${lint} 2>&1)"; grep -q "${isPlaceholder}" <<<"$found" && ! grep '^error:' <<<"$found" | grep -v "${isPlaceholder}" || { echo "$found"; exit 1; }`,
    ],
    packed,
  );
  rmSync(packed, { recursive: true });
}

await step('build', bin('turbo'), ['run', 'build', '--output-logs=errors-only']);
const published = listWorkspacePackages(root).filter(({ isPrivate }) => !isPrivate);
const tarballs = mkdtempSync(join(tmpdir(), 'pool-packed-'));
await pnpm(
  'pack',
  ...published.map(({ name }) => `--filter=${name}`),
  ...['--recursive', 'pack', '--out', join(tarballs, '%s.tgz')],
);
const queue = [
  () => checkInstalled('prover as installed by npm', checkPackedProver),
  () => checkInstalled('prover in a page', checkPackedPage),
  ...(process.argv.includes('--full')
    ? [() => checkInstalled('prover in Next.js', checkPackedNext)]
    : []),
  checkGate,
  ...published.map((one) => () => checkPackage(one)),
];
async function work(): Promise<void> {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) await check();
}
await Promise.all(Array.from({ length: concurrency }, work));
rmSync(tarballs, { recursive: true });

if (failures.length > 0) {
  process.stdout.write(`\n${failures.join('\n\n')}\n`);
  process.exitCode = 1;
}
