/**
 * Writes vectors/fund-proofs.json: one real proof of fund-16 and one of fund-64, for the tests and the gas
 * snapshot of the contracts. To be run again when a verification key changes; it takes some minutes, most of
 * them for the key of fund-64.
 *
 * Usage: node --conditions=@pool/source scripts/make-fund-proofs.ts
 */
import { writeFileSync } from 'node:fs';
import { createArtifactStore } from '@pool/circuits';
import { fieldToHex } from '@pool/core';
import { createProver, toSolidityProof } from '@pool/prover';
import { deployer, funder, makeProvableBatch, pool, token } from './proofs/fixture.ts';

const artifacts = createArtifactStore();
const prover = createProver({ artifacts });
const batches = [];
for (const size of [16, 64] as const) {
  const batch = await makeProvableBatch(size);
  const { plan } = batch;
  const { proof, publicSignals } = await prover.prove({
    circuit: `fund-${size}`,
    input: batch.input,
    onProgress: (stage, fraction) => {
      if (fraction === 0) process.stderr.write(`fund-${String(size)}: ${stage}\n`);
    },
  });
  if (publicSignals.map(BigInt).join() !== [batch.digest, batch.z, batch.y].join()) {
    throw new Error('the circuit does not show D, z, y in this order');
  }
  batches.push({
    circuit: `fund-${String(size)}`,
    batch: {
      funder: funder.address,
      token,
      total: plan.total.toString(),
      batchNonce: fieldToHex(plan.batchNonce),
      eligibilityRoot: fieldToHex(batch.eligibilityRoot),
      batchRoot: fieldToHex(plan.batchRoot),
      commitments: plan.commitments.map(fieldToHex),
      sealedNotesHash: plan.sealedNotesHash,
      digest: fieldToHex(batch.digest),
      deadline: batch.deadline,
    },
    z: fieldToHex(batch.z),
    y: fieldToHex(batch.y),
    proof: toSolidityProof(proof),
    funderSignature: batch.funderSignature,
  });
}
await prover.close();

const document = {
  protocol: '§5, §6, §8',
  source: 'proofs by @pool/prover under the keys of the dev setup',
  chainId: 31337,
  deployer: deployer.address,
  order: "the deployer's nonce 0 creates the token, nonces 1 to 5 deployPool, the pool last",
  pool,
  batches,
};
const target = new URL('../../../vectors/fund-proofs.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(document, null, 2)}\n`);
