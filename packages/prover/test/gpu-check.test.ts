/** The check of a graphics card: its bundle, run with small sizes on a graphics driver that runs on the processor. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createKernels } from '@pool/kernels';
import { groth16 } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMadeUpCircuit } from '../scripts/gpu-check/made-up-circuit.ts';
import { createCpuEngine } from '../src/engine/cpu-engine.ts';
import { assembleProof } from '../src/proof/assemble-proof.ts';
import { endSnarkjsThreads } from './small-circuit.ts';
import { openTestDevice } from './test-device.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const pacing = new URL('pace-polling.ts', import.meta.url).href;
const tsup = join(
  dirname(createRequire(join(root, '../../tooling/tsup.config.ts')).resolve('tsup')),
  'cli-default.js',
);

afterAll(endSnarkjsThreads);

describe('a made-up circuit', () => {
  it.each([8, 64])(
    'of %i rows has a key that makes proofs, which snarkjs accepts',
    async (rows) => {
      const kernels = await createKernels({ threads: 1 });
      const { zkey, witness, publicSignals, verificationKey } = await createMadeUpCircuit(
        kernels,
        rows,
      );
      await kernels.close();
      const engine = await createCpuEngine({ threads: 1 });
      const key = await engine.load(zkey);
      const proof = assembleProof(await key.computeSums(witness), zkey.header, 5n, 6n);
      expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
      // Row 0 constrains wire 4 to be a bit.
      witness.set([2], 32 * 4);
      const wrong = assembleProof(await key.computeSums(witness), zkey.header, 5n, 6n);
      expect(await groth16.verify(verificationKey, publicSignals, wrong)).toBe(false);
      await engine.close();
    },
  );
});

const probe = await openTestDevice();
probe?.close();

describe.skipIf(probe === undefined)('the bundle of gpu-check', () => {
  const output = join(root, '.cache/gpu-check');
  const json = join(tmpdir(), `gpu-check-${process.pid}.json`);
  beforeAll(async () => {
    await run(process.execPath, [tsup, '--config', '../../tooling/gpu-check.config.ts'], {
      cwd: root,
    });
  });
  afterAll(() => rm(json, { force: true }));

  it('requires Node only, and makes a proof that verifies', async () => {
    expect(existsSync(join(output, 'kernel-worker.js'))).toBe(true);
    // The other parts take long to compile on such a driver. engine.test.ts tests what they call.
    const only = ['--only', 'transforms,processor'];
    const size = ['--software', '--max-log', '3', '--budget-gb', '1'];
    const { stdout } = await run(
      process.execPath,
      ['--import', pacing, join(output, 'gpu-check.js'), ...size, ...only, '--json', json],
      { cwd: tmpdir(), timeout: 170_000 },
    );
    const found: unknown = JSON.parse(await readFile(json, 'utf8'));
    expect(found).toMatchObject({
      problems: [],
      tables: {
        layouts: [{ name: 'digits-13-loop', isCorrect: true }],
        proofs: [{ log: 3, processorMs: expect.any(Number) }],
      },
    });
    expect(found).toHaveProperty('checks', 1);
    expect(stdout).toMatch(/^three polynomials to the coset\n *log +ms +limitMs +ratio$/m);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual(found);
  }, 180_000);
});
