/**
 * The inputs of a spend proof (protocol §5, §6): the public vector x with its digest D, challenge z and evaluation y, and the
 * private inputs by signal name. Vectors: vectors/spend.json.
 *
 * @module
 */
import {
  assertField,
  bytesToBigint,
  decodeWalletPub,
  type Field,
  hexToBigint,
  PoolError,
  type SpendManifest,
  spendShapes,
  splitHalves,
} from '@pool/core';
import { computeChallenge } from '../fund/public-vector.ts';
import { dummyPath, findPath, type WitnessSignal } from '../fund/witness-signals.ts';
import { computeChainHash } from '../hash/poseidon.ts';
import { spendDigestTag } from '../hash/tags.ts';
import { multiplyBase } from '../keys/baby-jubjub.ts';
import { packSubgroupPoint } from '../keys/encryption-key.ts';
import { assertViewingKey } from '../keys/viewing-key.ts';
import { computeCommitment, computeNullifier } from '../note/note.ts';
import type { VerifiedPath } from '../trees/verified-path.ts';
import type { DummyInput } from './dummy-inputs.ts';
import { blindingBytes, computeMaskedSigner, type MaskedSigner } from './masked-signer.ts';
import { computeNoteRootFromPath, maxNotePathLevels, type NotePath } from './note-path.ts';
import { computeOperationHash, listOperationElements, type SpendOperation } from './operation.ts';
import type { SpendPlan } from './spend-plan.ts';

/** The public inputs of a spend proof. Public. */
export type SpendPublicInputs = {
  /**
   * assetId, withdrawAmount, recipient, deadline, sealedLo, sealedHi, outRoot, nf_0 …, cOut_0 …, noteRoot, eligibilityRoot,
   * W'xLo, W'xHi, W'yLo, W'yHi, m'Lo, m'Hi, rLo, rHi.
   */
  readonly x: Field[];
  /** D = HC(TAG_D_SPEND; opHash, noteRoot, …, rHi). It commits to the output commitments through outRoot. */
  readonly digest: Field;
  /** keccak256(D ‖ x_0 ‖ … ) mod r over 32-byte words. */
  readonly z: Field;
  /** x_0 + z(x_1 + z(x_2 + …)). */
  readonly y: Field;
};

function listHalves(value: bigint): Field[] {
  const { lo, hi } = splitHalves(value);
  return [lo, hi].map(assertField);
}

/**
 * Computes x, D, z, y as the contract does.
 * @throws PoolError `invalid_field_element` for any element outside [0, r); like {@link listOperationElements}
 */
export function computeSpendPublicInputs(spend: {
  readonly operation: SpendOperation;
  readonly commitments: readonly Field[];
  readonly noteRoot: Field;
  /** 0 in a spend that pays nobody. */
  readonly eligibilityRoot: Field;
  readonly maskedSigner: MaskedSigner;
  readonly rSig: bigint;
}): SpendPublicInputs {
  const { operation, commitments, noteRoot, eligibilityRoot, maskedSigner, rSig } = spend;
  const { maskedPub, maskedDigest } = maskedSigner;
  const bound = [
    noteRoot,
    eligibilityRoot,
    ...[maskedPub.x, maskedPub.y, maskedDigest, rSig].flatMap(listHalves),
  ].map(assertField);
  const x = [...listOperationElements(operation), ...commitments, ...bound].map(assertField);
  const digest = computeChainHash(spendDigestTag, [computeOperationHash(operation), ...bound]);
  return { x, digest, ...computeChallenge(digest, x) };
}

/** A note that is spent. Secret. */
export type SpentNote = {
  /** Base units. */
  readonly amount: bigint;
  readonly nonce: Field;
  readonly path: NotePath;
};

/**
 * All inputs of a spend circuit by signal name. **Secret**: they contain v, W, amounts and payees. Pass them only to the prover's
 * memory.
 *
 * @param spend.plan - built from `manifest`
 * @param spend.notes - one for each of the manifest's nullifiers, in that order
 * @param spend.dummies - from {@link deriveDummyInputs}
 * @param spend.viewingKey - v of all notes, secret
 * @param spend.noteRoot - known to the contract; every note's path leads to it
 * @param spend.eligibilityRoot - accepted by the registry; 0 in a spend that pays nobody
 * @param spend.eligibilityPaths - each payee's path under that root, by wallet id (32-byte hex)
 * @param spend.rSig - of the signature over m. For a dry run, any number from 1 to n-1
 * @throws PoolError `invalid_viewing_key`, `invalid_request` (v, notes or amounts do not belong to the manifest), `invalid_value` (a
 *   path does not lead to the note root), `unregistered-recipient`; like {@link computeMaskedSigner}
 */
export function computeSpendWitnessInput(spend: {
  readonly manifest: SpendManifest;
  readonly plan: SpendPlan;
  readonly notes: readonly SpentNote[];
  readonly dummies: readonly DummyInput[];
  readonly viewingKey: bigint;
  readonly noteRoot: Field;
  readonly eligibilityRoot: Field;
  readonly eligibilityPaths: ReadonlyMap<string, VerifiedPath>;
  readonly rSig: bigint;
}): Record<string, WitnessSignal> {
  const { manifest, plan, notes, dummies, noteRoot, eligibilityRoot, rSig } = spend;
  const { operation, slots } = plan;
  const viewingKey = assertViewingKey(spend.viewingKey);
  checkNotes(spend);
  const maskedSigner = computeMaskedSigner({ ...plan, walletPub: manifest.walletPub, rSig });
  const { digest, z, y } = computeSpendPublicInputs({ ...plan, ...spend, operation, maskedSigner });

  const wallet = decodeWalletPub(manifest.walletPub);
  const sealed = splitHalves(hexToBigint(operation.sealedNotesHash));
  const inputs = [
    ...notes.map(({ amount, nonce, path }) => ({ enabled: 1n, amount, nonce, ...path })),
    ...dummies.map(({ nonce }) => ({ enabled: 0n, amount: 0n, nonce, ...dummyNotePath })),
  ];
  const [change, ...payees] = slots;
  const paths = payees.map((slot) =>
    slot.recipientIndex === undefined
      ? dummyPath
      : findPath(slot, eligibilityRoot, spend.eligibilityPaths),
  );
  return {
    D: decimal(digest),
    z: decimal(z),
    y: decimal(y),
    assetId: decimal(operation.assetId),
    withdrawAmount: decimal(operation.withdrawAmount),
    recipient: decimal(hexToBigint(operation.recipient?.toLowerCase() ?? '0x00')),
    deadline: String(operation.deadline),
    sealedLo: decimal(sealed.lo),
    sealedHi: decimal(sealed.hi),
    noteRoot: decimal(noteRoot),
    eligibilityRoot: decimal(eligibilityRoot),
    rLo: decimal(splitHalves(rSig).lo),
    rHi: decimal(splitHalves(rSig).hi),
    wxLo: decimal(splitHalves(wallet.x).lo),
    wxHi: decimal(splitHalves(wallet.x).hi),
    wyLo: decimal(splitHalves(wallet.y).lo),
    wyHi: decimal(splitHalves(wallet.y).hi),
    viewingKey: decimal(viewingKey),
    salt: decimal(bytesToBigint(plan.salt)),
    blindingBits: Array.from({ length: 8 * blindingBytes }, (_, i) =>
      decimal((plan.blinding >> BigInt(i)) & 1n),
    ),
    inputEnabled: inputs.map(({ enabled }) => decimal(enabled)),
    inputAmounts: inputs.map(({ amount }) => decimal(amount)),
    inputNonces: inputs.map(({ nonce }) => decimal(nonce)),
    inputDepths: inputs.map(({ siblings }) => String(siblings.length)),
    inputIndices: inputs.map(({ index }) => String(index)),
    inputSiblings: inputs.map(({ siblings }) =>
      Array.from({ length: maxNotePathLevels }, (_, level) => decimal(siblings[level] ?? 0n)),
    ),
    secret: decimal(plan.secret),
    changeAmount: decimal(change?.amount ?? 0n),
    changePx: decimal(change?.encryptionPoint.x ?? 0n),
    changePy: decimal(change?.encryptionPoint.y ?? 0n),
    amounts: payees.map(({ amount }) => decimal(amount)),
    walletIds: payees.map(({ walletId }) => decimal(walletId)),
    px: payees.map(({ encryptionPoint }) => decimal(encryptionPoint.x)),
    py: payees.map(({ encryptionPoint }) => decimal(encryptionPoint.y)),
    leafIndices: paths.map(({ index }) => String(index)),
    siblings: paths.map(({ siblings }) =>
      siblings.map((level) => level.map((sibling) => decimal(hexToBigint(sibling)))),
    ),
  };
}

function decimal(value: bigint): string {
  return value.toString();
}

// The circuit does not compare the root of a dummy input, so any path serves.
const dummyNotePath: NotePath = { index: 0, siblings: [assertField(0n)] };

/** Finds mistakes before a proof does, which would only report that some constraint is broken. */
function checkNotes(spend: Parameters<typeof computeSpendWitnessInput>[0]): void {
  const { manifest, plan, notes, dummies, viewingKey, noteRoot } = spend;
  const { operation, walletId, slots } = plan;
  const encryptionPoint = multiplyBase(viewingKey);
  if (packSubgroupPoint(encryptionPoint) !== manifest.encryptionPublicKey) {
    throw refuse('the viewing key does not belong to encryptionPublicKey');
  }
  if (notes.length + dummies.length !== spendShapes[operation.circuit].inputs) {
    throw refuse('notes and dummies together do not fill the circuit');
  }
  const { assetId } = operation;
  for (const [i, { amount, nonce, path }] of notes.entries()) {
    const nullifier = computeNullifier({ assetId, nonce, viewingKey, walletId });
    if (nullifier !== operation.nullifiers[i]) {
      throw refuse(`note ${i} does not have the nullifier of its input`);
    }
    const commitment = computeCommitment({ assetId, amount, nonce, walletId, encryptionPoint });
    if (computeNoteRootFromPath(commitment, path) !== noteRoot) {
      throw new PoolError('invalid_value', `note ${i}: the path does not lead to the note root`);
    }
  }
  for (const [i, { nullifier }] of dummies.entries()) {
    if (nullifier !== operation.nullifiers[notes.length + i]) {
      throw refuse(`dummy ${i} does not have the nullifier of its input`);
    }
  }
  const spent = notes.reduce((sum, { amount }) => sum + amount, 0n);
  const created = slots.reduce((sum, { amount }) => sum + amount, operation.withdrawAmount);
  if (spent !== created) {
    throw refuse('the notes do not add up to the outputs and the withdrawal');
  }
}

function refuse(problem: string): PoolError {
  return new PoolError('invalid_request', `spend: ${problem}`);
}
