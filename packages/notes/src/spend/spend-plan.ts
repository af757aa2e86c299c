/**
 * From manifest and seed to the whole spend (protocol §3, §6). The agent, the approver and an enclave each rebuild the same spend
 * before they sign it. Vectors: vectors/spend.json.
 *
 * Confidential: the plan contains who is paid and what. Secret: `secret`, `salt`, `digest`, `blinding`. Never log it. Only the
 * operation, its hash, the commitments and the sealed notes leave the machine.
 *
 * @module
 */
import {
  bytesToBigint,
  computeManifestDigest,
  type Field,
  fieldToHex,
  type Hex32,
  maxAmount,
  PoolError,
  parseAmount,
  parseEvmAddress,
  parseField,
  parseWire,
  type SpendManifest,
  spendManifestSchema,
  spendShapes,
} from '@pool/core';
import { computeBatchRoot } from '../fund/batch-root.ts';
import { poseidon } from '../hash/poseidon.ts';
import { spendBaseTag } from '../hash/tags.ts';
import { decodeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { createSeedSource, deriveSlotOrder, type SeedSource } from '../keys/seed.ts';
import { computeWalletId } from '../keys/wallet-id.ts';
import {
  type AddressedSealedNote,
  assertDistinct,
  computeManifestAssetId,
  computeSealedNotesHash,
  deriveDummy,
  fillSlot,
  type NoteSlot,
  type Payee,
  readPayee,
} from '../note/note-slot.ts';
import { blindingBytes } from './masked-signer.ts';
import {
  computeOperationHash,
  computeSpendDigest,
  type SpendOperation,
  spendSaltBytes,
} from './operation.ts';

/** The whole spend. The module header lists what may leave the machine. */
export type SpendPlan = {
  readonly manifestDigest: Hex32;
  readonly operation: SpendOperation;
  /** opHash. */
  readonly operationHash: Field;
  /** 31 bytes, secret. */
  readonly salt: Uint8Array;
  /** m, which the holder signs; secret. */
  readonly digest: Field;
  /** b, below 2^248, secret: it hides W in the proof. */
  readonly blinding: bigint;
  /** Secret: a payee who knows it can link the notes of the spend. */
  readonly secret: Field;
  readonly walletId: Field;
  /** In slot order: the change in slot 0, then payees and dummies. */
  readonly commitments: readonly Field[];
  /** In slot order, including dummies. */
  readonly sealedNotes: readonly AddressedSealedNote[];
  readonly slots: readonly NoteSlot[];
};

/**
 * Builds the spend. Deterministic. The caller must verify the evidence of each payee, and that the change's P is the holder's own:
 * a note under a foreign P cannot be spent.
 *
 * @param manifest - confidential
 * @param seed - 32 random bytes, fresh for this manifest, secret
 * @param dummyNullifiers - of the inputs that the manifest leaves free, from {@link deriveDummyInputs}
 * @throws PoolError `invalid_request` (manifest malformed or contradictory, or a wrong number of nullifiers), `invalid-amount` (the
 *   sum is 2^128 or more), `duplicate-recipient`, `invalid-address`, `invalid_wallet_pub`, `invalid_encryption_key`,
 *   `invalid_field_element`, `invalid_value`
 *
 * @example
 * const dummies = deriveDummyInputs(manifest, seed, viewingKey);
 * const plan = buildSpend(manifest, seed, dummies.map(({ nullifier }) => nullifier));
 */
export function buildSpend(
  manifest: SpendManifest,
  seed: Uint8Array,
  dummyNullifiers: readonly Field[],
): SpendPlan {
  parseWire(spendManifestSchema, manifest, 'spend manifest');
  const nullifiers = [...manifest.inputNullifiers.map(parseField), ...dummyNullifiers];
  checkManifest(manifest, nullifiers);
  const manifestDigest = computeManifestDigest(manifest);
  const source = createSeedSource(seed, manifestDigest);
  const assetId = computeManifestAssetId(manifest);
  const secret = source.deriveField('pool/v1/spend/secret', 0);
  const base = poseidon([spendBaseTag, nullifiers[0] ?? 0n, secret]);

  const filled = placePayees(manifest, source).map((payee, slot) =>
    fillSlot({ payee, slot, assetId, base, source, kind: 'spend' }),
  );
  const commitments = filled.map(({ slot }) => slot.commitment);
  const sealedNotes = filled.map(({ sealedNote }) => sealedNote);
  const operation: SpendOperation = {
    circuit: manifest.circuit,
    assetId,
    withdrawAmount: parseAmountOrZero(manifest.withdrawAmount),
    recipient: manifest.recipient === undefined ? undefined : parseEvmAddress(manifest.recipient),
    deadline: manifest.deadline,
    sealedNotesHash: computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed)),
    outRoot: computeBatchRoot(commitments),
    nullifiers,
  };
  const salt = source.deriveBytes('pool/v1/spend/salt', 0, spendSaltBytes);
  return {
    manifestDigest,
    operation,
    operationHash: computeOperationHash(operation),
    salt,
    digest: computeSpendDigest(operation, salt),
    blinding: bytesToBigint(source.deriveBytes('pool/v1/spend/blinding', 0, blindingBytes)),
    secret,
    walletId: computeWalletId(manifest.walletPub),
    commitments,
    sealedNotes,
    slots: filled.map(({ slot }) => slot),
  };
}

function parseAmountOrZero(amount: string): bigint {
  return amount === '0' ? 0n : parseAmount(amount);
}

function refuse(problem: string): PoolError {
  return new PoolError('invalid_request', `spend manifest: ${problem}`);
}

function checkManifest(manifest: SpendManifest, nullifiers: readonly Field[]): void {
  const { circuit, outputs, withdrawAmount, recipient } = manifest;
  const shape = spendShapes[circuit];
  if (outputs.length > shape.outputs - 1) {
    throw refuse(`${circuit} pays at most ${shape.outputs - 1} wallets`);
  }
  if (nullifiers.length !== shape.inputs) {
    throw refuse(`${circuit} has ${shape.inputs} inputs, and ${nullifiers.length} were given`);
  }
  if (new Set(nullifiers.map(fieldToHex)).size !== nullifiers.length) {
    throw refuse('a nullifier occurs twice');
  }
  if ((withdrawAmount === '0') !== (recipient === undefined)) {
    throw refuse('recipient is required for a withdrawal, and absent from a transfer');
  }
  const amounts = [manifest.changeAmount, withdrawAmount, ...outputs.map(({ amount }) => amount)];
  if (amounts.reduce((sum, amount) => sum + parseAmountOrZero(amount), 0n) > maxAmount) {
    throw new PoolError('invalid-amount', 'the amounts of a spend must add up to less than 2^128');
  }
}

/** Payees in slot order: the change, then payees in the slots that the seed assigns, and dummies in all others. */
function placePayees(manifest: SpendManifest, source: SeedSource): Payee[] {
  const { changeEncryptionPublicKey, changeAmount, outputs } = manifest;
  const change: Payee = {
    recipientIndex: undefined,
    amount: parseAmountOrZero(changeAmount),
    memo: undefined,
    walletId: computeWalletId(manifest.walletPub),
    encryptionPublicKey: changeEncryptionPublicKey,
    encryptionPoint: decodeEncryptionPublicKey(changeEncryptionPublicKey),
  };
  const payees = outputs.map(readPayee);
  assertDistinct(payees, 'spend');
  const slots = spendShapes[manifest.circuit].outputs;
  const order = deriveSlotOrder(source, slots - 1, 'spend');
  const bySlot = new Map(payees.map((payee, i) => [1 + (order[i] ?? 0), payee]));
  return Array.from({ length: slots }, (_, slot) =>
    slot === 0 ? change : (bySlot.get(slot) ?? deriveDummy(source, 'spend', slot)),
  );
}
