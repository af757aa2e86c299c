// Production keys from beginning to end, with the commands that people type: a ceremony on a small circuit, its files published and
// fetched, proofs under them by the prover, checked by the prover and by snarkjs. With files that were changed in transit or on disk, nothing is proved.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createArtifactStore, openProductionKeys } from '@pool/circuits';
import { createProver, type Prover } from '@pool/prover';
import { groth16, zKey } from 'snarkjs';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { small } from '../../packages/circuits/test/ceremony-circuits.ts';
import { sample } from '../../packages/circuits/test/fund-batch.ts';
import { createPowersOfTau } from '../../packages/circuits/test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../packages/circuits/test/witness.ts';

const cli = fileURLToPath(new URL('../../packages/circuits/src/cli.ts', import.meta.url));
// The name determines only the location of the files.
const circuit = 'fund-16';
const input = { a: 12n, b: 34n, d: 5n };

let folder: string;
const provers: Prover<typeof circuit>[] = [];
function path(...names: string[]) {
  return join(folder, ...names);
}
async function run(...args: string[]): Promise<string> {
  const command = ['--conditions=@pool/source', cli, ...args];
  return (await promisify(execFile)(process.execPath, command, { cwd: folder })).stdout;
}
function openFetched() {
  return openProductionKeys({ folder: path('fetched'), manifest: path('production.json') });
}
function createFetchedProver() {
  const prover = createProver({ artifacts: openFetched(), accelerator: 'cpu' });
  provers.push(prover);
  return prover;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-production-keys-'));
  const compiled = await compileTest(small);
  const published = path('published', circuit);
  await mkdir(published, { recursive: true });
  await writeFile(join(published, 'circuit.r1cs'), compiled.r1csBytes);
  await writeFile(join(published, 'circuit.wasm'), compiled.wasm);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await writeFile(path('p.ptau'), createPowersOfTau(powers, 4));

  const ptau = createHash('sha256')
    .update(await readFile(path('p.ptau')))
    .digest('hex');
  const files = [
    ...['--r1cs', join(published, 'circuit.r1cs')],
    ...['--ptau', 'p.ptau', '--ptau-sha256', ptau],
  ];
  await run('ceremony', 'init', ...files, '--out', '0.zkey');
  await run('ceremony', 'contribute', '--in', '0.zkey', '--out', '1.zkey', '--name', 'Ada');
  await run('ceremony', 'contribute', '--in', '1.zkey', '--out', '2.zkey', '--name', 'Bob');
  const beacon = ['--beacon', '0x00ff', '--iterations', '10'];
  await run('ceremony', 'beacon', '--in', '2.zkey', '--out', 'final.zkey', ...beacon);
  expect(await run('ceremony', 'verify', ...files, '--zkey', 'final.zkey')).toContain('sound');
  const key = join(published, 'verification-key.json');
  await run('ceremony', 'export-verifier', '--zkey', 'final.zkey', '--out', key);
  await copyFile(path('final.zkey'), join(published, 'proving-key.zkey'));

  const digest = async (name: string) =>
    createHash('sha256')
      .update(await readFile(join(published, name)))
      .digest('hex');
  const sha256 = {
    r1cs: await digest('circuit.r1cs'),
    wasm: await digest('circuit.wasm'),
    zkey: await digest('proving-key.zkey'),
    verificationKey: await digest('verification-key.json'),
  };
  await writeFile(path('production.json'), JSON.stringify({ circuits: { [circuit]: { sha256 } } }));
  await run('fetch', '--from', 'published', '--manifest', 'production.json', '--out', 'fetched');
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await Promise.all(provers.map((prover) => prover.close()));
  await rm(folder, { recursive: true, force: true });
  await endSnarkjsThreads();
});

it('fetched keys prove in production, where development keys do not', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const prover = createFetchedProver();
  const { proof, publicSignals } = await prover.prove({ circuit, input });
  const key = await openFetched().readVerificationKey(circuit);
  expect(publicSignals.at(-1)).toBe('34');
  for (const verify of [prover.verify, groth16.verify]) {
    expect(await verify(key, publicSignals, proof)).toBe(true);
    expect(await verify(key, publicSignals.with(0, '1'), proof)).toBe(false);
  }
  const development = createArtifactStore({ cacheDir: path('cache') });
  await expect(development.ensureArtifacts(circuit)).rejects.toMatchObject({
    code: 'insecure_dev_setup',
  });
});

it.each(['circuit.wasm', 'proving-key.zkey', 'verification-key.json'])(
  'refuses to prove with a %s that differs from the manifest',
  async (name) => {
    const file = path('fetched', circuit, name);
    const bytes = await readFile(file);
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
    await writeFile(file, changed);
    const prover = createFetchedProver();
    await expect(prover.prove({ circuit, input })).rejects.toMatchObject({
      code: 'artifact_refused',
    });
    // Fetching again replaces the changed files.
    await run('fetch', '--from', 'published', '--manifest', 'production.json', '--out', 'fetched');
    expect((await prover.prove({ circuit, input })).publicSignals.at(-1)).toBe('34');
  },
);

it('an agent does not start with a key that has only a beacon', async () => {
  const weak = path('weak', circuit);
  await cp(path('fetched', circuit), weak, { recursive: true });
  await zKey.beacon(path('0.zkey'), join(weak, 'proving-key.zkey'), 'beacon', '00ff', 10);
  const key = await zKey.exportVerificationKey(join(weak, 'proving-key.zkey'));
  await writeFile(join(weak, 'verification-key.json'), JSON.stringify(key));
  const digest = async (name: string) =>
    createHash('sha256')
      .update(await readFile(join(weak, name)))
      .digest('hex');
  const sha256 = {
    r1cs: await digest('circuit.r1cs'),
    wasm: await digest('circuit.wasm'),
    zkey: await digest('proving-key.zkey'),
    verificationKey: await digest('verification-key.json'),
  };
  await writeFile(path('weak.json'), JSON.stringify({ circuits: { [circuit]: { sha256 } } }));
  const agent = fileURLToPath(new URL('../../apps/agent/src/main.ts', import.meta.url));
  const start = (artifacts: string, manifest: string) =>
    promisify(execFile)(process.execPath, ['--conditions=@pool/source', agent, 'serve'], {
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        DISBURSE_HOME: path('home'),
        DISBURSE_PORT: '0',
        DISBURSE_PLATFORM_URL: 'https://pool.example/agent-edge',
        DISBURSE_PLATFORM_TOKEN: 'pool_edge_example',
        DISBURSE_ARTIFACTS_DIR: artifacts,
        DISBURSE_ARTIFACTS_MANIFEST: manifest,
      },
      timeout: 300_000,
    });
  await expect(start(path('weak'), path('weak.json'))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no_contribution'),
  });
});
