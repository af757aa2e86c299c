/**
 * Writes vectors/fund-proofs.json: one real proof of each circuit, made by the engine of @pool/prover, for the
 * tests and the gas snapshot of the contracts. Run it again when a verification key or the pool's address
 * changes. It takes minutes, mostly to make the keys.
 *
 * Usage: node --conditions=@pool/source test/proofs/make-fund-proofs.ts
 */
import { writeFileSync } from 'node:fs';
import { createArtifactStore } from '@pool/circuits';
import { batchSizes } from '@pool/core';
import { createProver } from '@pool/prover';
import { deployer, pool } from './fixture.ts';
import { proveBatch } from './prove-batch.ts';

const artifacts = createArtifactStore({ keyForm: 'compact' });
const prover = createProver({ artifacts, accelerator: 'cpu' });
const { detail: engine } = await prover.ready();
const batches = [];
for (const size of batchSizes) batches.push(await proveBatch(prover, size));
await prover.close();

const document = {
  protocol: '§5, §6, §8',
  source: `proofs by @pool/prover, its own engine (${engine}), under the keys of the dev setup`,
  chainId: 31337,
  deployer: deployer.address,
  order: "the deployer's nonce 0 creates the token, nonces 1 to 8 deployPool, the pool last",
  pool,
  batches,
};
const target = new URL('../../../../vectors/fund-proofs.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(document, null, 2)}\n`);
