// The proof of a withdrawal. Its eligibility root is 0: it pays nobody inside the pool, so it needs no gate.
import type { Groth16Proof, SpendCall } from '@pool/contracts';
import {
  bigintToHex32,
  fieldToHex,
  type SpendManifest,
  type WalletPub,
  zeroField,
  zeroWord,
} from '@pool/core';
import {
  computeMaskedSigner,
  computeSpendPublicInputs,
  computeSpendWitnessInput,
  type DummyInput,
  type SpendPlan,
  type SpendSignature,
} from '@pool/notes';
import { createProver, readVerificationKey, toSolidityProof } from '@pool/prover';
import type { ExitFile } from './files.ts';
import type { Keys, SpendableNote } from './find-notes.ts';
import type { PoolState } from './read-pool.ts';

export async function proveWithdrawal(input: {
  readonly manifest: SpendManifest;
  readonly plan: SpendPlan;
  readonly dummies: readonly DummyInput[];
  readonly keys: Keys;
  readonly notes: readonly SpendableNote[];
  readonly pool: PoolState;
  readonly signature: SpendSignature;
  readonly walletPub: WalletPub;
  readonly circuits: ExitFile['circuits'];
}): Promise<{ readonly proof: Groth16Proof; readonly call: SpendCall }> {
  const { manifest, plan, signature, walletPub } = input;
  const { noteRoot } = input.pool;
  const { rSig } = signature;
  const files = input.circuits[manifest.circuit];
  if (files === undefined) {
    throw new Error(`exit.json names no files of ${manifest.circuit}`);
  }
  const inputs = manifest.inputNullifiers.map((word) => {
    const note = input.notes.find(({ nullifier }) => fieldToHex(nullifier) === word);
    if (note === undefined) {
      throw new Error('a note of the withdrawal is spent, or missing in the file of kept notes');
    }
    return note;
  });
  const witness = computeSpendWitnessInput({
    ...{ manifest, plan, rSig, noteRoot },
    dummies: input.dummies,
    notes: inputs,
    viewingKey: input.keys.viewingKey,
    eligibilityRoot: zeroField,
    eligibilityPaths: new Map(),
  });
  const verificationKey = await readVerificationKey(files.zkey);
  const prover = createProver();
  try {
    const { proof } = await prover.prove({
      circuit: { wasmPath: files.wasm, zkeyPath: files.zkey, verificationKey },
      input: witness,
    });
    const maskedSigner = computeMaskedSigner({ ...plan, walletPub, rSig });
    const { digest } = computeSpendPublicInputs({
      ...plan,
      ...{ noteRoot, maskedSigner, rSig },
      eligibilityRoot: zeroField,
    });
    return { proof: toSolidityProof(proof), call: describeCall() };

    function describeCall(): SpendCall {
      const { operation, commitments } = plan;
      const { maskedPub, slope, maskedDigest } = maskedSigner;
      return {
        token: manifest.token,
        withdrawAmount: operation.withdrawAmount,
        recipient: manifest.recipient ?? '',
        deadline: BigInt(operation.deadline),
        nullifiers: operation.nullifiers.map(fieldToHex),
        commitments: commitments.map(fieldToHex),
        outRoot: fieldToHex(operation.outRoot),
        noteRoot: fieldToHex(noteRoot),
        eligibilityRoot: zeroWord,
        D: fieldToHex(digest),
        maskedX: bigintToHex32(maskedPub.x),
        maskedY: bigintToHex32(maskedPub.y),
        slope: bigintToHex32(slope),
        maskedDigest: bigintToHex32(maskedDigest),
        rSig: bigintToHex32(rSig),
        s: bigintToHex32(signature.s),
        parity: signature.parity,
      };
    }
  } finally {
    await prover.close();
  }
}
