/**
 * The parts of a disclosure, from what a payer or a payee keeps: a payer has manifest and seed, a payee the note and v
 * (docs/disclosure.md, "Making one"). The results are confidential.
 *
 * @module
 */
import {
  type AssetId,
  bigintToHex32,
  type DisclosedInsertion,
  type DisclosedPayment,
  type EncryptionPublicKey,
  type Field,
  type FundManifest,
  fieldToHex,
  type Hex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  type SpendManifest,
} from '@pool/core';
import { stepFundBatch } from '../fund/fund-batch.ts';
import { runToEnd, type Steps } from '../fund/steps.ts';
import { computeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { createSeedSource, type SeedKind, type SeedSource } from '../keys/seed.ts';
import { computeWalletId } from '../keys/wallet-id.ts';
import type { AddressedSealedNote, NoteSlot } from '../note/note-slot.ts';
import { openNote } from '../note/sealed-note.ts';
import { buildSpend } from '../spend/spend-plan.ts';
import { computeMessageKey } from './message-key.ts';

/** Where an event is. */
export type EventPlace = {
  readonly txHash: Hex32;
  /** Of the event's root in the note tree. */
  readonly index: number;
};

/** Which payments are shown, and how much of them. */
export type OpeningChoice = EventPlace & {
  /** Places in the manifest's list of payees. */
  readonly payees: readonly number[];
  /** Shows the memos too. The document then has all sealed notes of the event. */
  readonly withMemos: boolean;
};

/**
 * Payments of a batch, as the payer shows them: with the funder, each payee's sign-in text, and the ephemeral scalars if memos are shown.
 * @param seed - of the manifest, secret
 * @throws PoolError `invalid_request` for a payee that the manifest does not have; like {@link buildFundBatch}
 */
export function openBatchPayments(
  manifest: FundManifest,
  seed: Uint8Array,
  choice: OpeningChoice,
): DisclosedInsertion {
  return runToEnd(stepBatchPayments(manifest, seed, choice)).insertion;
}

/** {@link openBatchPayments} with a pause after each slot, and the batch's root. */
export function* stepBatchPayments(
  manifest: FundManifest,
  seed: Uint8Array,
  choice: OpeningChoice,
): Steps<{ readonly insertion: DisclosedInsertion; readonly root: Field }> {
  const plan = yield* stepFundBatch(manifest, seed);
  const source = createSeedSource(seed, plan.manifestDigest);
  const insertion: DisclosedInsertion = {
    kind: 'batch',
    ...openPlan(plan, manifest.recipients, choice, { source, kind: 'fund' }),
    funding: {
      funder: parseEvmAddress(manifest.funder),
      batchNonce: fieldToHex(plan.batchNonce),
    },
  };
  return { insertion, root: plan.batchRoot };
}

/**
 * Payments of a spend, as the payer shows them. The change is opened, because its wallet id is the spender's: its amount becomes
 * known to the auditor.
 * @param seed - of the manifest, secret
 * @param dummyNullifiers - as in {@link buildSpend}
 * @throws PoolError `invalid_request` for a payee that the manifest does not have; like {@link buildSpend}
 */
export function openSpendPayments(
  manifest: SpendManifest,
  seed: Uint8Array,
  dummyNullifiers: readonly Field[],
  choice: OpeningChoice,
): DisclosedInsertion {
  const plan = buildSpend(manifest, seed, dummyNullifiers);
  const source = createSeedSource(seed, plan.manifestDigest);
  const [change] = plan.slots;
  return {
    kind: 'spend',
    ...openPlan(plan, manifest.outputs, choice, { source, kind: 'spend' }),
    change: {
      amount: manifest.changeAmount,
      nonce: fieldToHex(change?.nonce ?? failSlot()),
      walletPub: manifest.walletPub,
      encryptionPublicKey: manifest.changeEncryptionPublicKey,
    },
  };
}

/**
 * A received note, as the payee shows it.
 * @param note.sealed - the note's own 209 bytes
 * @param note.viewingKey - v, secret; nothing of it enters the result
 * @param note.withMemo - shows the memo too. The insertion then needs all sealed notes of the event
 * @returns undefined if the note is not this holder's
 * @throws PoolError `invalid_viewing_key`, `invalid_wallet_pub`
 */
export function openReceivedPayment(note: {
  readonly slot: number;
  readonly commitment: Field;
  readonly assetId: AssetId;
  readonly walletPub: Hex;
  readonly sealed: Hex;
  readonly viewingKey: bigint;
  readonly withMemo: boolean;
}): DisclosedPayment | undefined {
  const { slot, commitment, assetId, walletPub, sealed, viewingKey, withMemo } = note;
  const walletId = computeWalletId(walletPub);
  const opened = openNote({ sealed, viewingKey, walletId, commitment, assetId });
  if (opened === undefined) {
    return undefined;
  }
  const encryptionPublicKey = computeEncryptionPublicKey(viewingKey);
  const secret = withMemo
    ? computeMessageKey(sealed, viewingKey, { encryptionPublicKey, commitment, assetId })
    : undefined;
  return {
    slot,
    commitment: fieldToHex(commitment),
    amount: opened.amount.toString(),
    nonce: fieldToHex(opened.nonce),
    walletPub,
    encryptionPublicKey,
    ...(secret === undefined
      ? {}
      : { memo: { text: opened.memo ?? null, proof: 'message-key' as const, secret } }),
  };
}

type ManifestPayee = {
  readonly walletPub: Hex;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly evidence: NonNullable<DisclosedPayment['evidence']>;
  readonly amount: string;
  readonly memo?: string | undefined;
};

function openPlan(
  plan: {
    readonly slots: readonly NoteSlot[];
    readonly sealedNotes: readonly AddressedSealedNote[];
  },
  people: readonly ManifestPayee[],
  { txHash, index, payees, withMemos }: OpeningChoice,
  seed: { readonly source: SeedSource; readonly kind: SeedKind },
) {
  const payments = payees.map((place) => {
    const person = people[place];
    const note = plan.slots.find(({ recipientIndex }) => recipientIndex === place);
    if (person === undefined || note === undefined) {
      return failSlot();
    }
    return openSlot(note, person, withMemos ? seed : undefined);
  });
  const sealedNotes = plan.sealedNotes.map(({ sealed }) => sealed);
  return { txHash, index, ...(withMemos ? { sealedNotes } : {}), payments };
}

function openSlot(
  { slot, commitment, nonce }: NoteSlot,
  { walletPub, encryptionPublicKey, evidence, amount, memo }: ManifestPayee,
  seed: { readonly source: SeedSource; readonly kind: SeedKind } | undefined,
): DisclosedPayment {
  const opening = {
    slot,
    commitment: fieldToHex(commitment),
    amount,
    nonce: fieldToHex(nonce),
    walletPub,
    encryptionPublicKey,
    evidence,
  };
  if (seed === undefined) {
    return opening;
  }
  const scalar = seed.source.deriveScalar(`pool/v1/${seed.kind}/ephemeral`, slot);
  const secret = bigintToHex32(scalar);
  // An empty memo is stored like no memo.
  const text = memo === undefined || memo === '' ? null : memo;
  return { ...opening, memo: { text, proof: 'ephemeral-scalar', secret } };
}

function failSlot(): never {
  throw new PoolError('invalid_request', 'disclosure: the manifest has no such payee');
}
