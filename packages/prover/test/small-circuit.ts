/**
 * Small circuits with keys from snarkjs' own (tiny) ceremony: nothing here comes from the rest of the repository. For tests only.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { VerificationKey } from '@pool/kernels';
import { curves, powersOfTau, zKey } from 'snarkjs';

const factors = `pragma circom 2.2.0;
template Factors() {
  signal input product;
  signal input a;
  signal input b;
  a * b === product;
}
component main {public [product]} = Factors();
`;

/** Square after square: `steps` constraints, an output, two public inputs. */
export function squaresSource(steps: number): string {
  return `pragma circom 2.2.0;
template Squares(n) {
  signal input start;
  signal input offsets[2];
  signal output end;
  signal chain[n + 1];
  chain[0] <== start;
  for (var i = 0; i < n; i++) {
    chain[i + 1] <== chain[i] * chain[i] + offsets[i % 2];
  }
  end <== chain[n] + 0;
}
component main {public [offsets]} = Squares(${steps});
`;
}

const require = createRequire(import.meta.url);

export type CompiledCircuit = {
  readonly folder: string;
  readonly wasm: string;
  readonly r1csPath: string;
};

/** Compiles circom text into a new folder. */
export async function compileCircuit(
  source: string,
  flags: readonly string[] = [],
): Promise<CompiledCircuit> {
  const folder = await mkdtemp(join(tmpdir(), 'prover-test-'));
  await writeFile(join(folder, 'small.circom'), source);
  await mkdir(join(folder, 'out'));
  const compiler = require.resolve('circom2/cli.js');
  await promisify(execFile)(
    process.execPath,
    [compiler, 'small.circom', '--r1cs', '--wasm', '-o', 'out', ...flags],
    { cwd: folder, env: {} },
  );
  return {
    folder,
    wasm: join(folder, 'out/small_js/small.wasm'),
    r1csPath: join(folder, 'out/small.r1cs'),
  };
}

export type SmallCircuit = CompiledCircuit & {
  readonly zkey: string;
  readonly verificationKey: VerificationKey;
};

type CircuitFiles = {
  readonly files: Readonly<Record<'wasm' | 'r1cs' | 'zkey', Uint8Array>>;
  readonly verificationKey: VerificationKey;
};

async function makeSmallCircuit(source: string, power: number): Promise<CircuitFiles> {
  const { folder, wasm, r1csPath } = await compileCircuit(source);
  const path = (name: string) => join(folder, name);
  const curve = await curves.getCurveFromName('bn128');
  await powersOfTau.newAccumulator(curve, power, path('0.ptau'));
  await powersOfTau.contribute(path('0.ptau'), path('1.ptau'), 'test', 'some entropy');
  await powersOfTau.preparePhase2(path('1.ptau'), path('2.ptau'));
  await zKey.newZKey(r1csPath, path('2.ptau'), path('0.zkey'));
  await zKey.contribute(path('0.zkey'), path('small.zkey'), 'test', 'more entropy');
  const exported = await zKey.exportVerificationKey(path('small.zkey'));
  const files = {
    wasm: await readFile(wasm),
    r1cs: await readFile(r1csPath),
    zkey: await readFile(path('small.zkey')),
  };
  await rm(folder, { recursive: true });
  return { files, verificationKey: exported as unknown as VerificationKey };
}

/** A circuit is compiled, and its key made, once for all files of a process. Each caller gets its own copy. */
const made = new Map<string, Promise<CircuitFiles>>();

/**
 * Signals product (public), a, b with a * b = product; or another source.
 * @param power - of two, above the number of constraints and public signals
 */
export async function createSmallCircuit(source = factors, power = 3): Promise<SmallCircuit> {
  const name = `${power} ${source}`;
  const making = made.get(name) ?? makeSmallCircuit(source, power);
  made.set(name, making);
  const { files, verificationKey } = await making;
  const folder = await mkdtemp(join(tmpdir(), 'prover-test-'));
  const path = (kind: keyof typeof files) => join(folder, `small.${kind}`);
  for (const kind of ['wasm', 'r1cs', 'zkey'] as const) await writeFile(path(kind), files[kind]);
  return {
    folder,
    wasm: path('wasm'),
    r1csPath: path('r1cs'),
    zkey: path('zkey'),
    verificationKey: structuredClone(verificationKey),
  };
}

/** snarkjs keeps the threads of its curve alive; a test file that used it ends them here. */
export async function endSnarkjsThreads(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: { terminate(): Promise<void> } };
  await curve?.terminate();
}
