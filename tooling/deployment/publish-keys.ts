// The keys in the form that an operator fetches: files with a manifest of their digests. A packed service has no compiler of circuits, so it
// cannot make development keys. These are the development keys, published as a ceremony's are.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createArtifactStore, readArtifactsManifest, verificationKeys } from '@pool/circuits';
import type { CircuitName } from '@pool/core';

/**
 * Writes `keys/<circuit>` and `production.json` into the folder. A pool contains the verification key of every circuit, and a prover starts
 * with the files of all sizes only. Circuits other than `circuit` take minutes to make: their programs and proving keys are empty files
 * here, so nothing is proved with them.
 */
export async function publishKeys(folder: string, circuit: CircuitName): Promise<void> {
  const store = createArtifactStore({ keyForm: 'standard' });
  const made = await store.ensureArtifacts(circuit);
  const circuits: Record<string, unknown> = {};
  for (const [name, { sha256 }] of Object.entries(readArtifactsManifest())) {
    const published = join(folder, 'keys', name);
    mkdirSync(published, { recursive: true });
    const [wasm, zkey, key] = ['circuit.wasm', 'proving-key.zkey', 'verification-key.json'].map(
      (file) => join(published, file),
    ) as [string, string, string];
    const verificationKey = verificationKeys[name as CircuitName];
    writeFileSync(key, `${JSON.stringify(verificationKey, null, 2)}\n`);
    if (name === circuit) {
      copyFileSync(made.wasm, wasm);
      copyFileSync(made.zkey, zkey);
    } else {
      for (const empty of [wasm, zkey]) writeFileSync(empty, '');
    }
    const digest = (path: string): string =>
      createHash('sha256').update(readFileSync(path)).digest('hex');
    circuits[name] = { sha256: { ...sha256, wasm: digest(wasm), zkey: digest(zkey) } };
  }
  writeFileSync(join(folder, 'production.json'), JSON.stringify({ circuits }));
}
