// The prover as a user installs it: the packed tarballs of prover and kernels in an empty project, by npm alone, under every runtime
// that the README names. The programs are examples/prove-any-circuit, the command, which must end by themselves, and
// examples/replace-snarkjs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { createSmallCircuit, endSnarkjsThreads } from '../../packages/prover/test/small-circuit.ts';
import { run } from '../src/processes.ts';

const root = resolve(import.meta.dirname, '../..');
const program = join(root, 'examples/prove-any-circuit/src/main.ts');
const service = join(root, 'examples/replace-snarkjs/src/main.ts');
const command = 'node_modules/@pool/prover/bin/pool-prover.js';

/** Kept between calls: about 700 MB. */
const runtimeFolder = join(root, '.cache/runtimes');
function node(version: string): string {
  return `npm:node-${process.platform}-${process.arch}@${version}`;
}
const runtimePackages = [
  `node20@${node('20.20.2')}`,
  `node22@${node('22.23.3')}`,
  'bun@1.4.5',
  'deno@2.9.6',
];
function inRuntimes(path: string): string {
  return join(runtimeFolder, 'node_modules', path);
}
/** The command that runs a program. */
const runtimes: Readonly<Record<string, readonly string[]>> = {
  'Node 22': [inRuntimes('node22/bin/node')],
  'Node 24': [process.execPath],
  Bun: [inRuntimes('.bin/bun')],
  Deno: [inRuntimes('.bin/deno'), 'run', '--allow-all'],
};

/** Of everything that `npm install @pool/prover` writes, in MB. */
const maximumMegabytes = 10;

/** The files that threads start from: a bundle needs them beside it. */
const workers = [
  '@pool/kernels/dist/kernel-worker.js',
  '@pool/prover/dist/assemble-proof-worker.js',
  '@pool/prover/dist/verify-worker.js',
  '@pool/prover/dist/witness-worker.js',
];

/** @returns the errors, none if every check passed */
export async function checkPackedProver(tarballs: readonly string[]): Promise<string[]> {
  const failures: string[] = [];
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'pool-prover-')));
  // A process that does not end by itself is a failure.
  const execute = async (command: readonly string[], cwd = project) =>
    await run('timeout', ['300', ...command], { cwd, output: 'collect' });
  const install = async (cwd: string, ...packages: string[]) => {
    const { status, combined } = await execute(
      ['npm', 'install', '--no-audit', '--no-fund', ...packages],
      cwd,
    );
    if (status !== 0) throw new Error(`npm install in ${cwd} failed:\n${combined}`);
  };
  const circuit = await createSmallCircuit();
  const files = [circuit.wasm, circuit.zkey, join(project, 'input.json')];
  const expectProof = async (name: string, command: readonly string[]) => {
    const { status, stdout, combined } = await execute([...command, ...files]);
    if (status !== 0 || !stdout.includes('"391"')) failures.push(`${name}:\n${combined}`);
  };
  const expectCommands = async (name: string, runtime: readonly string[]) => {
    for (const line of [
      ['wtns', 'calculate', circuit.wasm, 'input.json', 'witness.wtns'],
      ['wtns', 'check', circuit.r1csPath, 'witness.wtns'],
      ['wtns', 'export', 'json', 'witness.wtns', 'witness.json'],
      ['groth16', 'prove', circuit.zkey, 'witness.wtns'],
      ['groth16', 'fullprove', 'input.json', circuit.wasm, circuit.zkey],
      ['zkey', 'export', 'verificationkey', circuit.zkey, 'verification_key.json'],
      ['groth16', 'verify'],
      ['zkey', 'export', 'soliditycalldata'],
    ]) {
      const { status, combined } = await execute([...runtime, command, ...line]);
      if (status !== 0) failures.push(`${name}: pool-prover ${line.join(' ')}:\n${combined}`);
    }
    for (const file of [
      'witness.wtns',
      'witness.json',
      'proof.json',
      'public.json',
      'verification_key.json',
    ]) {
      rmSync(join(project, file), { force: true });
    }
  };
  const expectService = async (name: string, [first = '', ...others]: readonly string[]) => {
    const child = spawn(first, [...others, 'service.ts', ...files.slice(0, 2)], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const signal = AbortSignal.timeout(60_000);
      const lines = createInterface(child.stdout);
      const [url] = (await Promise.race([
        once(lines, 'line', { signal }),
        once(child, 'exit', { signal }).then(() => ['']),
      ])) as [string];
      if (url === '') {
        failures.push(`${name}, replace-snarkjs: it ended before it listened`);
        return;
      }
      const body = '{ "product": 391, "a": 17, "b": 23 }';
      const answer = await (await fetch(url, { method: 'POST', body })).text();
      if (!answer.includes('"391"')) failures.push(`${name}, replace-snarkjs:\n${answer}`);
    } finally {
      child.kill();
    }
  };
  try {
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(project, 'input.json'), '{ "product": 391, "a": 17, "b": 23 }');
    mkdirSync(runtimeFolder, { recursive: true });
    writeFileSync(join(runtimeFolder, 'package.json'), '{ "private": true }');
    await install(project, ...tarballs);
    await install(runtimeFolder, ...runtimePackages);

    const { stdout: size } = await execute(['du', '-sm', 'node_modules']);
    if (!(Number.parseInt(size, 10) <= maximumMegabytes)) failures.push(`installed MB: ${size}`);

    await execute(['cp', program, 'main.ts']);
    await execute(['cp', service, 'service.ts']);
    for (const [name, runtime] of Object.entries(runtimes)) {
      await expectProof(name, [...runtime, 'main.ts']);
      await expectService(name, runtime);
      await expectCommands(name, runtime);
    }
    const load =
      'const { createProver } = require("@pool/prover"); createProver(); require("@pool/prover/snarkjs").groth16.verify;';
    const required = await execute([inRuntimes('node22/bin/node'), '--eval', load]);
    if (required.status !== 0) failures.push(`require in Node 22:\n${required.combined}`);
    const old = await execute([
      ...[inRuntimes('node20/bin/node'), '--input-type=module', '--eval'],
      'const { createProver } = await import("@pool/prover"); createProver();',
    ]);
    if (!old.combined.includes('This is Node 20.20.2; @pool/prover needs Node 22.18 or later')) {
      failures.push(`Node 20 is not named:\n${old.combined}`);
    }

    // As the README of the prover says.
    await build({
      absWorkingDir: project,
      entryPoints: ['main.ts', ...workers.map((path) => join('node_modules', path))],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outdir: 'bundle',
      entryNames: '[name]',
      logLevel: 'silent',
    });
    rmSync(join(project, 'node_modules'), { recursive: true });
    await expectProof('a bundle by esbuild', [process.execPath, 'bundle/main.js']);
  } catch (error) {
    failures.push(`${basename(project)}: ${error instanceof Error ? error.message : 'failed'}`);
  } finally {
    await endSnarkjsThreads();
    rmSync(project, { recursive: true });
    rmSync(circuit.folder, { recursive: true });
  }
  return failures;
}
