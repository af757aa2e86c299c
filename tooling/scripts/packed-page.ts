// The prover in a page as a user builds it: examples/prove-in-browser with the packed tarballs in an empty project, by npm alone, built by
// Vite, esbuild, webpack and Rspack, served under a strict policy, and used in Chromium. The size of each part of Vite's has a budget.
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hasBrowser, openBrowser, openPage, servePage } from '@pool/testkit/browser';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../packages/prover/test/small-circuit.ts';
import { run } from '../src/processes.ts';

const example = resolve(import.meta.dirname, '../../examples/prove-in-browser');

/** Of the minified files that a page loads, in kB after gzip. */
const budgets: Readonly<Record<string, number>> = {
  index: 65,
  // One of the two is loaded.
  'proving-float': 120,
  'proving-integer': 50,
  engine: 30,
  'kernel-worker': 15,
  // It has the last steps of a sum, with noble-curves: it proves where the page is not isolated.
  'split-worker': 40,
  'witness-worker': 10,
  'assemble-proof-worker': 25,
};

function listSizes(folder: string): string[] {
  return globSync('assets/*.js', { cwd: folder }).flatMap((path) => {
    const name = Object.keys(budgets).find((part) => basename(path).startsWith(`${part}-`));
    const kilobytes = gzipSync(readFileSync(join(folder, path))).length / 1000;
    if (name === undefined) return [`${path} has no budget`];
    return kilobytes <= (budgets[name] ?? 0)
      ? []
      : [`${path}: ${kilobytes.toFixed(0)} kB after gzip, budget ${budgets[name]} kB`];
  });
}

/** What the page shows after a proof, and the errors of its console. */
export async function proveAt(url: string, circuit: SmallCircuit): Promise<string> {
  const browser = await openBrowser();
  try {
    const { page, errors } = await openPage(browser, url);
    await page.setInputFiles('[name=wasm]', circuit.wasm);
    await page.setInputFiles('[name=zkey]', circuit.zkey);
    const input = Buffer.from('{ "product": 391, "a": 17, "b": 23 }');
    const file = { name: 'input.json', mimeType: 'application/json', buffer: input };
    await page.setInputFiles('[name=input]', file);
    await page.click('button');
    const output = page.locator('pre:not(:empty)');
    await output.waitFor({ timeout: 60_000 });
    return [await output.textContent(), ...errors].join('\n');
  } finally {
    await browser.close();
  }
}

/** With threads, and without any error after it. */
export function isProved(shown: string): boolean {
  return /"detail": "WebAssembly, \d+ threads?, .*"391".*"groth16".*\}$/s.test(shown);
}

const tools = ['webpack@5.113.0', '@rspack/core@2.3.3', 'esbuild@0.28.2'];
/** As webpack and Rspack build a page without a configuration. Minifying takes webpack 20 s, and changes nothing that is tested here. */
function buildBy(load: string, folder: string): string {
  return `
    ${load}
    const output = { path: process.cwd() + '/${folder}', filename: '[name].js' };
    const options = { mode: 'production', entry: './main.js', output, optimization: { minimize: false } };
    bundle(options, (error, stats) => {
      if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString());
    });`;
}

/** By the folder that they write. */
const bundlers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'by-vite': ['npx', 'vite', 'build', '--logLevel', 'error', '--outDir', 'by-vite'],
  // As the README of the prover says.
  'by-esbuild': [
    ...(['npx', 'esbuild', 'main.js', 'node_modules/@pool/kernels/dist/kernel-worker.js'] as const),
    ...['assemble-proof', 'verify', 'witness'].map(
      (name) => `node_modules/@pool/prover/dist/${name}-worker.js`,
    ),
    ...['--bundle', '--format=esm', '--platform=browser', '--splitting'],
    ...['--outdir=by-esbuild', '--entry-names=[name]', '--log-level=error'],
  ],
  'by-webpack': [
    ...([process.execPath, '--input-type=module', '--eval'] as const),
    buildBy("import bundle from 'webpack';", 'by-webpack'),
  ],
  'by-rspack': [
    ...([process.execPath, '--input-type=module', '--eval'] as const),
    buildBy("import { rspack as bundle } from '@rspack/core';", 'by-rspack'),
  ],
};

/** @returns the errors, none if every check passed */
export async function checkPackedPage(tarballs: readonly string[]): Promise<string[]> {
  if (!hasBrowser) return ['Chromium is missing: install it (apt-get install chromium)'];
  const project = mkdtempSync(join(tmpdir(), 'pool-page-'));
  const circuit = await createSmallCircuit();
  const failures: string[] = [];
  const execute = async (command: string, ...args: readonly string[]) => {
    const { status, combined } = await run(command, args, { cwd: project, output: 'collect' });
    if (status !== 0) throw new Error(`${command} ${args[0]} failed:\n${combined}`);
  };
  try {
    for (const name of ['index.html', 'main.js', 'vite.config.js']) {
      cpSync(join(example, name), join(project, name));
    }
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const { devDependencies } = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const vite = Object.entries(devDependencies).map(([name, version]) => `${name}@${version}`);
    await execute('npm', 'install', '--no-audit', '--no-fund', ...tarballs, ...vite, ...tools);
    for (const [name, command] of Object.entries(bundlers)) {
      await execute(...command);
      const built = join(project, name);
      if (name !== 'by-vite') cpSync(join(example, 'index.html'), join(built, 'index.html'));
      const server = await servePage({ folder: built, isolated: true });
      const shown = await proveAt(server.origin, circuit).finally(server.close);
      const all = [shown, ...server.violations].join('\n');
      if (!isProved(all)) failures.push(`the page ${name} shows:\n${all}`);
    }
    return [...failures, ...listSizes(join(project, 'by-vite'))];
  } catch (error) {
    return [...failures, error instanceof Error ? error.message : 'failed'];
  } finally {
    await endSnarkjsThreads();
    rmSync(circuit.folder, { recursive: true });
    rmSync(project, { recursive: true });
  }
}
