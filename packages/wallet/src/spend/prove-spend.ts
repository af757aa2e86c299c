/**
 * From a planned spend and a signature to a proof (protocol §6): the roots, the paths under them, the witness, and a proof that is
 * verified here against public inputs that this agent computed itself.
 *
 * @module
 */
import {
  bigintToHex32,
  type Field,
  fieldToHex,
  type Hex32,
  isField,
  PoolError,
  parseEvmAddress,
  parseField,
  zeroWord,
} from '@pool/core';
import {
  computeMaskedSigner,
  computeSpendPublicInputs,
  computeSpendWitnessInput,
  computeWalletId,
  type SpendSignature,
  type VerifiedPath,
  verifyEligibilityPath,
} from '@pool/notes';
import type { ProvedBatch } from '../ports.ts';
import type { PlannedSpend } from './plan-spend.ts';
import { retrySpend, type SpendDeps } from './spend-deps.ts';
import type { HolderNote, SpendContext, SpendSubmission } from './spend-ports.ts';

/** A proof that verified here, and what it was made for. Public once the spend is sent. */
export type ProvedSpend = {
  readonly noteRoot: Hex32;
  readonly eligibilityRoot: Hex32;
  readonly digest: Hex32;
  readonly proof: ProvedBatch['proof'];
};

type Eligibility = {
  readonly root: Field;
  /** By wallet id. Confidential as a whole. */
  readonly paths: ReadonlyMap<string, VerifiedPath>;
};

/**
 * @param rSig - of the stored signature; for a dry run, any number from 1 to n-1
 * @throws PoolError `proof_invalid`, `unregistered-recipient`, `notes_unavailable`, and errors of gate, chain and prover
 */
export async function proveSpend(
  context: SpendContext,
  planned: PlannedSpend,
  rSig: bigint,
  deps: SpendDeps,
): Promise<ProvedSpend> {
  const { prover, signal } = deps;
  const { manifest, plan, dummies, viewingKey } = planned;
  deps.onEvent({ kind: 'stage', stage: 'proving' });
  const release = await deps.acquireAccelerator(signal);
  try {
    // Read as late as possible: the newest roots are the ones that most others use.
    const notes = await retrySpend(deps, () => findInputs(planned, deps));
    const { noteRoot, paths } = await retrySpend(deps, () => deps.notes.computePaths(notes));
    const eligibility = await retrySpend(deps, () => fetchEligibility(context, planned, deps));
    const input = computeSpendWitnessInput({
      manifest,
      plan,
      notes: notes.map(({ amount, nonce }, index) => {
        const path = paths[index];
        if (path === undefined) {
          throw new PoolError('invalid_value', 'a note of the spend has no path');
        }
        return { amount, nonce, path };
      }),
      dummies,
      viewingKey,
      noteRoot,
      eligibilityRoot: eligibility.root,
      eligibilityPaths: eligibility.paths,
      rSig,
    });
    const proved = await retrySpend(deps, () =>
      prover.prove(manifest.circuit, input, {
        signal,
        onProgress: (fraction) => deps.onEvent({ kind: 'progress', stage: 'proving', fraction }),
      }),
    );
    const { digest, z, y } = computeSpendPublicInputs({
      ...plan,
      noteRoot,
      eligibilityRoot: eligibility.root,
      maskedSigner: computeMaskedSigner({ ...plan, walletPub: planned.manifest.walletPub, rSig }),
      rSig,
    });
    const expected = [digest, z, y];
    const isOurs =
      proved.publicSignals.length === expected.length &&
      proved.publicSignals.every((signal, index) => signal === expected[index]);
    if (!isOurs || !(await prover.verify(manifest.circuit, proved))) {
      throw new PoolError(
        'proof_invalid',
        'the proof did not verify here, so nothing was sent; check the prover artifacts',
      );
    }
    return {
      noteRoot: fieldToHex(noteRoot),
      eligibilityRoot: fieldToHex(eligibility.root),
      digest: fieldToHex(digest),
      proof: proved.proof,
    };
  } finally {
    release();
  }
}

/** The notes of the manifest's nullifiers, in their order. */
async function findInputs(
  { manifest, plan }: PlannedSpend,
  { notes }: SpendDeps,
): Promise<readonly HolderNote[]> {
  const owned = await notes.listSpendable(plan.operation.assetId);
  const byNullifier = new Map(owned.map((note) => [fieldToHex(note.nullifier), note]));
  return manifest.inputNullifiers.map((nullifier) => {
    const note = byNullifier.get(nullifier);
    if (note === undefined) {
      throw new PoolError(
        'notes_unavailable',
        'the store of notes does not have an input of the spend now; the agent reads the chain again',
        { status: 503, retryable: true },
      );
    }
    return note;
  });
}

/**
 * The eligibility of the payees under `registry.current()` of a final block, the root that everybody uses then. A withdrawal proves
 * with root 0, so that no gate can block an exit.
 */
async function fetchEligibility(
  { chain }: SpendContext,
  { manifest }: PlannedSpend,
  { gate }: SpendDeps,
): Promise<Eligibility> {
  if (manifest.withdrawAmount !== '0') {
    return { root: parseField(zeroWord), paths: new Map() };
  }
  if (manifest.outputs.length === 0) {
    // The root that a transfer would have, so that root 0 does not tell it apart. Its outputs are change and dummies, which need no path.
    const current = await chain.fetchFinalEligibilityRoot();
    const isAccepted = current !== zeroWord && (await chain.isEligibilityRootAccepted(current));
    return { root: parseField(isAccepted ? current : zeroWord), paths: new Map() };
  }
  if (gate === undefined) {
    throw new PoolError(
      'unregistered-recipient',
      'this deployment has no pool-gate, so no payee is eligible',
    );
  }
  const rootHex = await chain.fetchFinalEligibilityRoot();
  const root = parseField(rootHex);
  if (rootHex === zeroWord) {
    throw new PoolError(
      'eligibility_root_unknown',
      'the registry has published no eligibility root yet; wait for the gate to publish one',
    );
  }
  const wallets = manifest.outputs.map(({ walletPub }) => computeWalletId(walletPub));
  const answer = await gate.paths(wallets.map(fieldToHex), rootHex);
  const missing = new Set(answer.missing);
  const served = new Map(answer.paths.map((path) => [path.walletId, path]));
  const paths = new Map<string, VerifiedPath>();
  for (const [index, walletId] of wallets.entries()) {
    const id = fieldToHex(walletId);
    if (missing.has(id)) {
      throw new PoolError(
        'unregistered-recipient',
        `recipients[${index}]: the wallet is not on the eligibility list`,
      );
    }
    const path = served.get(id);
    const verified =
      path === undefined || answer.root !== rootHex || !isField(root)
        ? undefined
        : verifyEligibilityPath(root, walletId, path);
    if (verified === undefined) {
      throw new PoolError(
        'gate_invalid_response',
        'the pool-gate served a path that does not lead to the root that the registry has',
      );
    }
    paths.set(id, verified);
  }
  // The final block can be older than a revocation, or than the end of the root's grace period: the contract would refuse the proof.
  if (!(await chain.isEligibilityRootAccepted(rootHex))) {
    throw new PoolError(
      'eligibility_root_unknown',
      'the registry does not accept the eligibility root any more; wait for the gate to publish one',
    );
  }
  return { root, paths };
}

/** Everything the relayer needs, and nothing that opens a note. */
export function createSubmission(
  { manifest, plan }: PlannedSpend,
  signature: SpendSignature,
  proved: ProvedSpend,
): SpendSubmission {
  const { operation } = plan;
  const masked = computeMaskedSigner({
    ...plan,
    walletPub: manifest.walletPub,
    rSig: signature.rSig,
  });
  return {
    chain: manifest.chain,
    spend: {
      token: parseEvmAddress(manifest.token),
      withdrawAmount: manifest.withdrawAmount,
      ...(operation.recipient === undefined ? {} : { recipient: operation.recipient }),
      deadline: operation.deadline,
      nullifiers: operation.nullifiers.map(fieldToHex),
      commitments: plan.commitments.map(fieldToHex),
      outRoot: fieldToHex(operation.outRoot),
      noteRoot: proved.noteRoot,
      eligibilityRoot: proved.eligibilityRoot,
      digest: proved.digest,
      maskedX: bigintToHex32(masked.maskedPub.x),
      maskedY: bigintToHex32(masked.maskedPub.y),
      slope: bigintToHex32(masked.slope),
      maskedDigest: bigintToHex32(masked.maskedDigest),
      rSig: bigintToHex32(signature.rSig),
      s: bigintToHex32(signature.s),
      parity: signature.parity,
    },
    proof: proved.proof,
    sealedNotes: plan.sealedNotes.map(({ encryptionPublicKey, sealed }) => ({
      encryptionPublicKey,
      sealed,
    })),
  };
}
