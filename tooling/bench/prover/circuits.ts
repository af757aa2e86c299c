// The circuits of the prover benchmark. One funding note (2^12 rows) and Fund(N) for N = 2, 4 … 256 (2^13 … 2^20 rows), which is what
// the product proves; so the witness has the mix of zeros, ones, small and full values that a circom circuit has. And the deployed
// circuits of spends with the fullest spend of /vectors. Made once and kept in .cache/bench, before anything is measured.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createArtifactStore } from '@pool/circuits';
import { compileCircuit } from '../../../packages/circuits/src/artifacts/compile.ts';
import { sourceFolder } from '../../../packages/circuits/src/circuits.ts';
import { accelerateProgram } from '../../../packages/circuits/src/program/accelerate-program.ts';
import { computeKeyInWorker } from '../../../packages/circuits/src/setup/key-in-worker.ts';
import { createBatch, toInput } from '../../../packages/circuits/test/fund-batch.ts';
import {
  readSpendVector,
  readWalletY,
  spendVectors,
} from '../../../packages/circuits/test/spend-vector.ts';

const cache = resolve(import.meta.dirname, '../../../.cache/bench');

export interface BenchCircuit {
  readonly power: number;
  /** Of a deployed circuit. */
  readonly name?: string;
  readonly wasm: string;
  readonly zkey: string;
  readonly verificationKeyPath: string;
  /** Decimal strings. */
  readonly inputPath: string;
}

export interface BenchCase {
  /** Rows of the domain as a power of two: 12 … 20. */
  readonly power: number;
  /**
   * Ours: the accelerated witness program, and the key as the agent reads it. Standard: circom's own program, and the key in the snarkjs
   * format, which all provers read.
   */
  prepare(): Promise<Readonly<Record<'ours' | 'standard', BenchCircuit>>>;
}

export const fundCases: readonly BenchCase[] = [12, 13, 14, 15, 16, 17, 18, 19, 20].map(
  (power) => ({
    power,
    async prepare() {
      const standard = await prepareFund(power);
      const wasm = join(dirname(standard.wasm), 'accelerated.wasm');
      await writeFile(wasm, accelerateProgram(await readFile(standard.wasm)));
      return { ours: { ...standard, wasm }, standard };
    },
  }),
);

/** The goal is for a warm job on two cores. */
export const spendCases: readonly BenchCase[] = (
  [
    ['spend-2x4', 16, 'transfer to two', '≤ 2 s'],
    ['spend-16x8', 18, 'transfer to seven', '≤ 7 s'],
  ] as const
).map(([circuit, power, vectorName, goal]) => ({
  power,
  async prepare() {
    const vector = spendVectors.find(({ name }) => name === vectorName);
    if (vector === undefined) throw new Error(`vectors/spend.json has no spend "${vectorName}"`);
    const input = readSpendVector(vector, readWalletY(vector));
    const open = async (keyForm: 'compact' | 'standard'): Promise<BenchCircuit> => {
      const artifacts = await createArtifactStore({ keyForm }).ensureArtifacts(circuit);
      const { wasm, zkey, verificationKey } = artifacts;
      const files = await writeFiles(join(cache, circuit), input, verificationKey);
      return { ...files, power, name: `${circuit}, goal ${goal} warm`, wasm, zkey };
    };
    const constraints = await createArtifactStore().ensureConstraints(circuit);
    const compiled = join(dirname(constraints), 'circuit.wasm');
    return {
      ours: await open('compact'),
      standard: { ...(await open('standard')), wasm: compiled },
    };
  },
}));

async function writeFiles(folder: string, input: unknown, verificationKey: unknown) {
  await mkdir(folder, { recursive: true });
  const inputPath = join(folder, 'input.json');
  const verificationKeyPath = join(folder, 'verification-key.json');
  const toText = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' ? value.toString() : value;
  await writeFile(inputPath, JSON.stringify(input, toText));
  await writeFile(verificationKeyPath, JSON.stringify(verificationKey));
  return { inputPath, verificationKeyPath };
}

/** The main of a size, and an honest input for it. */
function describeMain(size: number): { readonly text: string; readonly input: unknown } {
  if (size > 1) {
    return {
      text: `include "fund.circom";\ncomponent main {public [D, z, y]} = Fund(${size});`,
      input: toInput(createBatch(size, size - 1)),
    };
  }
  const { assetId, eligibilityRoot, secret: nonce, ...batch } = createBatch(1);
  return {
    text: 'include "funding-note.circom";\ncomponent main = FundingNote();',
    input: {
      assetId,
      eligibilityRoot,
      nonce,
      px: batch.px[0],
      py: batch.py[0],
      amount: batch.amounts[0],
      walletId: batch.walletIds[0],
      leafIndex: batch.leafIndices[0],
      siblings: batch.siblings[0],
    },
  };
}

/** Compiles the circuit and makes its key, unless the cache contains both. */
async function prepareFund(power: number): Promise<BenchCircuit> {
  const size = 2 ** (power - 12);
  const folder = join(cache, `fund-${size}`);
  if (!existsSync(folder)) {
    const scratch = `${folder}.making`;
    await rm(scratch, { recursive: true, force: true });
    const sources = join(scratch, 'circom');
    await cp(sourceFolder(), sources, { recursive: true });
    const main = join(sources, 'main.circom');
    const { text, input } = describeMain(size);
    await writeFile(main, `pragma circom 2.2.0;\n${text}\n`);
    const { wasmPath, r1csPath } = await compileCircuit(main, scratch);
    await rename(wasmPath, join(scratch, 'circuit.wasm'));
    const zkeyPath = join(scratch, 'key.zkey');
    const seed = `bench fund-${size}`;
    const { verificationKey } = await computeKeyInWorker({ r1csPath, zkeyPath, seed });
    await writeFiles(scratch, input, verificationKey);
    for (const leftover of ['circom', 'main.r1cs', 'main_js']) {
      await rm(join(scratch, leftover), { recursive: true, force: true });
    }
    await rename(scratch, folder);
  }
  return {
    power,
    wasm: join(folder, 'circuit.wasm'),
    zkey: join(folder, 'key.zkey'),
    verificationKeyPath: join(folder, 'verification-key.json'),
    inputPath: join(folder, 'input.json'),
  };
}
