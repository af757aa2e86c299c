/**
 * Writes vectors/spend-proofs.json: one real proof of each spend of vectors/spend.json, made by the engine of @pool/prover, for the
 * tests and the gas snapshot of the contracts. To be run again when a verification key of a spend circuit or the vectors change.
 * It takes minutes, mostly to make the keys.
 *
 * Usage: node --conditions=@pool/source test/proofs/make-spend-proofs.ts
 */
import { writeFileSync } from 'node:fs';
import { createArtifactStore } from '@pool/circuits';
import { createProver } from '@pool/prover';
import { proveSpend, spendNames } from './prove-spend.ts';

const artifacts = createArtifactStore({ keyForm: 'compact' });
const prover = createProver({ artifacts, accelerator: 'cpu' });
const { detail: engine } = await prover.ready();
const proofs = [];
for (const name of spendNames) proofs.push(await proveSpend(prover, name));
await prover.close();

const document = {
  protocol: '§5 to §8',
  source: `proofs by @pool/prover, its own engine (${engine}), under the keys of the dev setup`,
  statements: 'vectors/spend.json: the spend of the same name has D, z and y',
  proofs,
};
const target = new URL('../../../../vectors/spend-proofs.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(document, null, 2)}\n`);
