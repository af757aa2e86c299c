/**
 * A small circuit with a key from snarkjs' own (tiny) ceremony: nothing here comes from the rest of the repository. For tests only.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { curves, powersOfTau, zKey } from 'snarkjs';
import type { VerificationKey } from '../src/groth16.ts';
import type { ProvingArtifact } from '../src/prover.ts';

const SOURCE = `pragma circom 2.2.0;
template Factors() {
  signal input product;
  signal input a;
  signal input b;
  a * b === product;
}
component main {public [product]} = Factors();
`;

const require = createRequire(import.meta.url);

export type SmallCircuit = ProvingArtifact & { readonly folder: string };

/** Signals product (public), a, b with a * b = product. */
export const createSmallCircuit = async (): Promise<SmallCircuit> => {
  const folder = await mkdtemp(join(tmpdir(), 'prover-test-'));
  const path = (name: string) => join(folder, name);
  await writeFile(path('small.circom'), SOURCE);
  await mkdir(path('out'));
  const compiler = require.resolve('circom2/cli.js');
  await promisify(execFile)(
    process.execPath,
    [compiler, 'small.circom', '--r1cs', '--wasm', '-o', 'out'],
    { cwd: folder, env: {} },
  );
  const curve = await curves.getCurveFromName('bn128');
  await powersOfTau.newAccumulator(curve, 3, path('0.ptau'));
  await powersOfTau.contribute(path('0.ptau'), path('1.ptau'), 'test', 'some entropy');
  await powersOfTau.preparePhase2(path('1.ptau'), path('2.ptau'));
  await zKey.newZKey(path('out/small.r1cs'), path('2.ptau'), path('0.zkey'));
  await zKey.contribute(path('0.zkey'), path('small.zkey'), 'test', 'more entropy');
  const exported = await zKey.exportVerificationKey(path('small.zkey'));
  return {
    folder,
    wasmPath: path('out/small_js/small.wasm'),
    zkeyPath: path('small.zkey'),
    verificationKey: exported as unknown as VerificationKey,
  };
};

/** snarkjs keeps the threads of its curve alive; a test file that used it ends them here. */
export const endSnarkjsThreads = async (): Promise<void> => {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: { terminate(): Promise<void> } };
  await curve?.terminate();
};
