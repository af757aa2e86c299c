// The circuits of the prover benchmark: one funding note (2^12 rows) and Fund(N) for N = 2, 4 … 256 (2^13 … 2^20 rows), which is what
// the product proves; so the witness has the mix of zeros, ones, small and full values that a circom circuit has. Made once and
// kept in .cache/bench.
import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compileCircuit } from '../../../packages/circuits/src/artifacts/compile.ts';
import { sourceFolder } from '../../../packages/circuits/src/circuits.ts';
import { computeKeyInWorker } from '../../../packages/circuits/src/setup/key-in-worker.ts';
import { createBatch, toInput } from '../../../packages/circuits/test/fund-batch.ts';

const cache = resolve(import.meta.dirname, '../../../.cache/bench');

/** Rows of the domain as a power of two: 12 … 20. */
export const allPowers = [12, 13, 14, 15, 16, 17, 18, 19, 20] as const;

export interface BenchCircuit {
  readonly power: number;
  /** Slots of the batch. */
  readonly size: number;
  readonly wasmPath: string;
  /** Standard snarkjs format, which all provers read. */
  readonly zkeyPath: string;
  readonly verificationKeyPath: string;
  /** Decimal strings. */
  readonly inputPath: string;
}

/** The main of a size, and an honest input for it. */
function describeMain(size: number): { readonly text: string; readonly input: unknown } {
  if (size > 1) {
    return {
      text: `include "fund.circom";\ncomponent main {public [D, z, y]} = Fund(${size});`,
      input: toInput(createBatch(size, size - 1)),
    };
  }
  const { assetId, eligibilityRoot, secret, ...slots } = createBatch(1);
  const [amount, walletId, px, py, leafIndex, siblings] = [
    slots.amounts[0],
    slots.walletIds[0],
    slots.px[0],
    slots.py[0],
    slots.leafIndices[0],
    slots.siblings[0],
  ];
  return {
    text: 'include "funding-note.circom";\ncomponent main = FundingNote();',
    input: {
      assetId,
      eligibilityRoot,
      amount,
      nonce: secret,
      walletId,
      px,
      py,
      leafIndex,
      siblings,
    },
  };
}

function toText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Compiles the circuit and makes its key, unless the cache contains both. */
export async function prepareCircuit(power: number): Promise<BenchCircuit> {
  const size = 2 ** (power - 12);
  const folder = join(cache, `fund-${size}`);
  const circuit: BenchCircuit = {
    power,
    size,
    wasmPath: join(folder, 'circuit.wasm'),
    zkeyPath: join(folder, 'key.zkey'),
    verificationKeyPath: join(folder, 'verification-key.json'),
    inputPath: join(folder, 'input.json'),
  };
  if (existsSync(folder)) return circuit;

  const scratch = `${folder}.making`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  const sources = join(scratch, 'circom');
  await cp(sourceFolder(), sources, { recursive: true });
  const main = join(sources, 'main.circom');
  const { text, input } = describeMain(size);
  await writeFile(main, `pragma circom 2.2.0;\n${text}\n`);
  const compiled = await compileCircuit(main, scratch);
  await rename(compiled.wasmPath, join(scratch, 'circuit.wasm'));
  const { verificationKey } = await computeKeyInWorker({
    r1csPath: compiled.r1csPath,
    zkeyPath: join(scratch, 'key.zkey'),
    seed: `bench fund-${size}`,
  });
  await writeFile(join(scratch, 'verification-key.json'), JSON.stringify(verificationKey));
  await writeFile(join(scratch, 'input.json'), JSON.stringify(input, toText));
  for (const leftover of ['circom', 'main.r1cs', 'main_js']) {
    await rm(join(scratch, leftover), { recursive: true, force: true });
  }
  await rename(scratch, folder);
  return circuit;
}
