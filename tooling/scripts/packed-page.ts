// The prover in a page as a user builds it: examples/prove-in-browser with the packed tarballs in an empty project, by npm alone, built by
// Vite, served under a strict policy, and used in Chromium. The size of each part has a budget.
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hasBrowser, openBrowser, openPage, servePage } from '@pool/testkit/browser';
import { createSmallCircuit, endSnarkjsThreads } from '../../packages/prover/test/small-circuit.ts';
import { run } from '../src/processes.ts';

const example = resolve(import.meta.dirname, '../../examples/prove-in-browser');

/** Of the minified files that a page loads, in kB after gzip. */
const budgets: Readonly<Record<string, number>> = {
  index: 440,
  engine: 30,
  'kernel-worker': 15,
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

/** What the page shows after a proof. */
async function proveIn(folder: string): Promise<string> {
  const circuit = await createSmallCircuit();
  const server = await servePage({ folder, isolated: true });
  const browser = await openBrowser();
  try {
    const { page, errors } = await openPage(browser, server.origin);
    await page.setInputFiles('[name=wasm]', circuit.wasm);
    await page.setInputFiles('[name=zkey]', circuit.zkey);
    const input = Buffer.from('{ "product": 391, "a": 17, "b": 23 }');
    const file = { name: 'input.json', mimeType: 'application/json', buffer: input };
    await page.setInputFiles('[name=input]', file);
    await page.click('button');
    const output = page.locator('pre:not(:empty)');
    await output.waitFor({ timeout: 60_000 });
    const text = await output.textContent();
    return [text, ...errors, ...server.violations].join('\n');
  } finally {
    await browser.close();
    server.close();
    await endSnarkjsThreads();
    rmSync(circuit.folder, { recursive: true });
  }
}

/** @returns the errors, none if every check passed */
export async function checkPackedPage(tarballs: readonly string[]): Promise<string[]> {
  if (!hasBrowser) return ['Chromium is missing: install it (apt-get install chromium)'];
  const project = mkdtempSync(join(tmpdir(), 'pool-page-'));
  try {
    for (const name of ['index.html', 'main.js', 'vite.config.js']) {
      cpSync(join(example, name), join(project, name));
    }
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const { devDependencies } = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const tools = Object.entries(devDependencies).map(([name, version]) => `${name}@${version}`);
    for (const [command, ...args] of [
      ['npm', 'install', '--no-audit', '--no-fund', ...tarballs, ...tools],
      ['npx', 'vite', 'build', '--logLevel', 'error'],
    ] as const) {
      const { status, combined } = await run(command, args, { cwd: project, output: 'collect' });
      if (status !== 0) return [`${command} ${args[0]} failed:\n${combined}`];
    }
    const built = join(project, 'dist');
    const shown = await proveIn(built);
    const isProved = /"detail": "WebAssembly, \d+ threads?, .*"391".*"groth16".*\}$/s.test(shown);
    return [...listSizes(built), ...(isProved ? [] : [`the page shows:\n${shown}`])];
  } finally {
    rmSync(project, { recursive: true });
  }
}
