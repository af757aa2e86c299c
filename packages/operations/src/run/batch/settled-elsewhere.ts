/**
 * The batchId of this job was used by a batch that this agent did not build (protocol §8, case (c)). The batchId binds the
 * funder, so its money has moved: another agent has paid the key, or this one before its store was lost. The platform's row
 * of the key says what was paid. It counts only as far as the event on chain and the request of this job confirm it.
 *
 * The chain does not show single amounts. They are taken from the request, whose sum the chain confirms, and only if the
 * keyed fingerprint in the row shows that the other agent received the same request. Which commitment belongs to which P
 * is known from the platform only.
 *
 * @module
 */
import type { BodyFingerprint, SettlementRecord } from '@pool/api';
import type { EvmAddress, Hex32 } from '@pool/core';
import { computeSealedNotesHash } from '@pool/notes';
import type { CheckedRecipient } from '../../check/checks.ts';
import type { FundedBatch } from '../../ports.ts';
import { compareFingerprints } from '../job/body-fingerprint.ts';

export type ElsewhereInput = {
  readonly row: SettlementRecord | undefined;
  /** Of the request of this job. */
  readonly fingerprint: BodyFingerprint;
  /** The event on chain under the batchId of funder and batchNonce. */
  readonly funded: FundedBatch;
  /** Of this job. */
  readonly batchNonce: Hex32;
  readonly recipients: readonly CheckedRecipient[];
  readonly token: EvmAddress;
  readonly funder: EvmAddress;
  /** Sum of the request, base units. */
  readonly total: bigint;
  /** Base units of the funder's tokens that the transaction moved into the pool. */
  readonly transferred: bigint;
};

export type ElsewhereVerdict =
  /** `commitments[i]` is the note of `recipients[i]`. */
  | { readonly kind: 'same-payment'; readonly commitments: readonly Hex32[] }
  | { readonly kind: 'unproven'; readonly reason: string };

/** Decides whether the batch on chain is the payment that this job requests. */
export function decideElsewhere(input: ElsewhereInput): ElsewhereVerdict {
  const { row, funded } = input;
  if (row === undefined) {
    return unproven('the platform has no settlement of this key');
  }
  switch (compareFingerprints(input.fingerprint, row.bodyFingerprint)) {
    case 'same':
      break;
    case 'other':
      return unproven('another body was paid under it');
    case 'unknown':
      return unproven(
        'the agent that paid it has another DISBURSE_FINGERPRINT_KEY or none, so it is unknown whether the body was the same',
      );
  }
  const { batch } = row;
  if (
    batch.batchNonce !== input.batchNonce ||
    batch.batchRoot !== funded.batchRoot ||
    !isSameList(batch.commitments, funded.commitments)
  ) {
    return unproven("the platform's settlement is not the one on chain");
  }
  if (
    batch.sealedNotesHash !== funded.sealedNotesHash ||
    computeSealedNotesHash(row.sealedNotes.map(({ sealed }) => sealed)) !==
      funded.sealedNotesHash ||
    row.sealedNotes.length !== funded.commitments.length
  ) {
    return unproven("the platform's sealed notes are not the ones on chain");
  }
  if (
    batch.token.toLowerCase() !== input.token.toLowerCase() ||
    batch.funder.toLowerCase() !== input.funder.toLowerCase() ||
    BigInt(batch.total) !== input.total ||
    input.transferred !== input.total
  ) {
    return unproven('token, funder or total differ from this request');
  }
  return mapCommitments(input.recipients, row, funded);
}

/** Each recipient's P must be in a slot of its own. Other slots may be dummies. */
function mapCommitments(
  recipients: readonly CheckedRecipient[],
  row: SettlementRecord,
  funded: FundedBatch,
): ElsewhereVerdict {
  const slotsByKey = new Map<string, number[]>();
  for (const [slot, note] of row.sealedNotes.entries()) {
    const slots = slotsByKey.get(note.encryptionPublicKey) ?? [];
    slotsByKey.set(note.encryptionPublicKey, [...slots, slot]);
  }
  const commitments: Hex32[] = [];
  for (const recipient of recipients) {
    const slot = slotsByKey.get(recipient.encryptionPublicKey)?.shift();
    const commitment = slot === undefined ? undefined : funded.commitments[slot];
    if (commitment === undefined) {
      return unproven('a recipient of this request has no note in the batch on chain');
    }
    commitments.push(commitment);
  }
  return { kind: 'same-payment', commitments };
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

function unproven(reason: string): ElsewhereVerdict {
  return { kind: 'unproven', reason };
}
