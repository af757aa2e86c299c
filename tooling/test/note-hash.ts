/**
 * A part of the product's circuits, of 2^9 rows, with its key and an input: the commitment of a note. Nearly all wires are full
 * values, as in every circuit of hashes. The prover is independent of it.
 */
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProvingArtifact, VerificationKey } from '@pool/prover';
import { compileCircuit } from '../../packages/circuits/src/artifacts/compile.ts';
import { sourceFolder } from '../../packages/circuits/src/circuits.ts';
import { computeKeyInWorker } from '../../packages/circuits/src/setup/key-in-worker.ts';

const main = `pragma circom 2.2.0;
include "poseidon.circom";
component main = Poseidon(6);
`;

export async function createNoteHash(): Promise<
  ProvingArtifact & {
    readonly verificationKey: VerificationKey;
    readonly folder: string;
    readonly input: Readonly<Record<string, unknown>>;
  }
> {
  const folder = await mkdtemp(join(tmpdir(), 'prover-note-'));
  const sources = join(folder, 'circom');
  await cp(sourceFolder(), sources, { recursive: true });
  await writeFile(join(sources, 'main.circom'), main);
  const { r1csPath, wasmPath: wasm } = await compileCircuit(join(sources, 'main.circom'), folder);
  const zkey = join(folder, 'key.zkey');
  const { verificationKey } = await computeKeyInWorker({
    r1csPath,
    zkeyPath: zkey,
    seed: 'a test',
  });
  const input = { inputs: [1, 2_000_000, 3, 4, 5, 6] };
  return { folder, wasm, zkey, verificationKey, input };
}
