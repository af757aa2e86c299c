/**
 * Real proofs of the spends of vectors/spend.json. The vectors fix everything that is proved, so the public inputs must be theirs.
 */
import { readFileSync } from 'node:fs';
import type { CircuitName } from '@pool/core';
import {
  type EligibilityPathWire,
  hexToBigint,
  hexToBytes,
  parseField,
  parseWire,
  spendManifestSchema,
} from '@pool/core';
import {
  buildSpend,
  computeSpendWitnessInput,
  deriveDummyInputs,
  verifyEligibilityPaths,
} from '@pool/notes';
import { type Prover, toSolidityProof } from '@pool/prover';

type SpendVector = {
  readonly name: string;
  readonly manifest: unknown;
  readonly seed: string;
  readonly viewingKey: string;
  readonly notes: readonly {
    readonly amount: string;
    readonly nonce: string;
    readonly path: { readonly index: number; readonly siblings: readonly string[] };
  }[];
  readonly noteRoot: string;
  readonly eligibility: { readonly root: string; readonly paths: readonly EligibilityPathWire[] };
  readonly signature: { readonly rSig: string };
  readonly publicInputs: Readonly<Record<'digest' | 'z' | 'y', string>>;
};

const vectorsUrl = new URL('../../../../vectors/spend.json', import.meta.url);
const { spends } = JSON.parse(readFileSync(vectorsUrl, 'utf8')) as {
  readonly spends: readonly SpendVector[];
};

/** Names of the spends, in the order of the file. */
export const spendNames = spends.map(({ name }) => name);

/** @throws if the circuit shows other public signals than the vector has */
export async function proveSpend(prover: Prover<CircuitName>, name: string) {
  const vector = spends.find((spend) => spend.name === name);
  if (vector === undefined) throw new Error(`vectors/spend.json has no spend "${name}"`);
  const manifest = parseWire(spendManifestSchema, vector.manifest, 'vector');
  const seed = hexToBytes(vector.seed);
  const viewingKey = hexToBigint(vector.viewingKey);
  const dummies = deriveDummyInputs(manifest, seed, viewingKey);
  const eligibilityRoot = parseField(vector.eligibility.root);
  const input = computeSpendWitnessInput({
    manifest,
    plan: buildSpend(
      manifest,
      seed,
      dummies.map(({ nullifier }) => nullifier),
    ),
    notes: vector.notes.map(({ amount, nonce, path }) => ({
      amount: BigInt(amount),
      nonce: parseField(nonce),
      path: { index: path.index, siblings: path.siblings.map(parseField) },
    })),
    dummies,
    viewingKey,
    noteRoot: parseField(vector.noteRoot),
    eligibilityRoot,
    eligibilityPaths: verifyEligibilityPaths(eligibilityRoot, vector.eligibility.paths),
    rSig: hexToBigint(vector.signature.rSig),
  });
  const { proof, publicSignals } = await prover.prove({
    circuit: manifest.circuit,
    input,
    onProgress: (stage, fraction) => {
      if (fraction === 0) process.stderr.write(`${name}: ${stage}\n`);
    },
  });
  const { digest, z, y } = vector.publicInputs;
  if (publicSignals.map(BigInt).join() !== [digest, z, y].map(BigInt).join()) {
    throw new Error('the circuit does not show D, z, y of the vector in this order');
  }
  return { name, circuit: manifest.circuit, proof: toSolidityProof(proof) };
}
