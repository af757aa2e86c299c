/**
 * A real proof of a fixture's batch, in the form of vectors/fund-proofs.json.
 */
import type { CircuitName } from '@pool/core';
import { type BatchSize, fieldToHex } from '@pool/core';
import { type Prover, toSolidityProof } from '@pool/prover';
import { funder, makeProvableBatch, token } from './fixture.ts';

/** @throws if the circuit shows other public signals than the contract computes */
export async function proveBatch(prover: Prover<CircuitName>, size: BatchSize) {
  const batch = await makeProvableBatch(size);
  const { plan } = batch;
  const circuit = `fund-${size}` as const;
  const { proof, publicSignals } = await prover.prove({
    circuit,
    input: batch.input,
    onProgress: (stage, fraction) => {
      if (fraction === 0) process.stderr.write(`${circuit}: ${stage}\n`);
    },
  });
  if (publicSignals.map(BigInt).join() !== [batch.digest, batch.z, batch.y].join()) {
    throw new Error('the circuit does not show D, z, y in this order');
  }
  return {
    circuit,
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
  };
}
