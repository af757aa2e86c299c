import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type FullProof, groth16 } from '@pool/prover/snarkjs';
import { groth16 as theirs } from 'snarkjs';
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

const ours = '@pool/prover/snarkjs';

/** Starts the program on one of the libraries, posts an input and a wrong one, and stops it. */
async function useService(library: string) {
  const source = await readFile(join(import.meta.dirname, 'main.ts'), 'utf8');
  expect(source.split(ours)).toHaveLength(2);
  const flags = ['--conditions=@pool/source', '--input-type=module-typescript'];
  const files = ['small.wasm', 'small.zkey'].map((name) => join(circuit.folder, name));
  const child = spawn(
    process.execPath,
    [...flags, '--eval', source.replace(ours, library), 'main.ts', ...files],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
    const post = (input: object) => fetch(url, { method: 'POST', body: JSON.stringify(input) });
    const answer = await post({ product: '391', a: '17', b: '23' });
    const wrong = await post({ product: '391', a: '17', b: '24' });
    return {
      made: (await answer.json()) as FullProof & { readonly call: string },
      wrongStatus: wrong.status,
      wrongText: await wrong.text(),
    };
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

it('gives on both libraries what the other verifies', async () => {
  const [now, then] = [await useService(ours), await useService('snarkjs')];
  for (const { made, wrongStatus } of [now, then]) {
    const { proof, publicSignals } = made;
    expect(publicSignals).toEqual(['391']);
    expect(await theirs.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
    expect(await groth16.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
    expect(made.call).toBe(await theirs.exportSolidityCallData(proof, publicSignals));
    expect(wrongStatus).toBe(400);
  }
  expect(now.wrongText).toContain('does not satisfy the circuit');
});
