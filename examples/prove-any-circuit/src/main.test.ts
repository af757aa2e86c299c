import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Groth16Proof, verifyProof } from '@pool/prover';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../../packages/prover/test/small-circuit.ts';

let circuit: SmallCircuit;
beforeAll(async () => {
  circuit = await createSmallCircuit();
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

async function runMain(input: object) {
  const inputPath = join(circuit.folder, 'input.json');
  await writeFile(inputPath, JSON.stringify(input));
  const main = join(import.meta.dirname, 'main.ts');
  return await promisify(execFile)(process.execPath, [
    '--conditions=@pool/source',
    main,
    circuit.wasm,
    circuit.zkey,
    inputPath,
  ]);
}

it('prints a proof that verifies, and what it was proved with', async () => {
  const { stdout, stderr } = await runMain({ product: '391', a: '17', b: '23' });
  const { proof, publicSignals } = JSON.parse(stdout) as {
    proof: Groth16Proof;
    publicSignals: string[];
  };
  expect(publicSignals).toEqual(['391']);
  expect(verifyProof(circuit.verificationKey, publicSignals, proof)).toBe(true);
  expect(stderr).toMatch(/^proved and verified in [0-9.]+ s on (cpu|webgpu) \(.+\)$/m);
});

it('says what is wrong with an input, and prints no proof', async () => {
  await expect(runMain({ product: '391', a: '17' })).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('takes 3 input values; 2 given'),
  });
});
