/**
 * The late-landing rule (protocol §8) as one pure decision: what the final state of the chain means for a batch whose
 * authorisation may have left this process. `failed` and `partial` require a dead authorisation. Everything uncertain waits.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import type { Hex32 } from '@pool/core';
import { computeSealedNotesHash } from '@pool/notes';
import type { FundedBatch, NonceState } from '../../ports.ts';
import { compareFingerprints } from '../job/body-fingerprint.ts';
import type { Run } from '../job/run.ts';

export type SettlementDecision =
  /** The batch of this job is on chain, no matter who sent it. */
  | { readonly kind: 'settled'; readonly funded: FundedBatch }
  /** Another batch used this nonce, so another agent paid this key. */
  | { readonly kind: 'settled-elsewhere'; readonly funded: FundedBatch }
  /** The authorisation can never land. */
  | { readonly kind: 'dead'; readonly cause: 'expired' | 'voided' }
  | { readonly kind: 'wait' };

/** What the chain has decided. */
export type Outcome = Exclude<SettlementDecision, { readonly kind: 'wait' }>;

export type SettlementView = {
  /** Undefined: this process knows no batch of this job. */
  readonly batchRoot: Hex32 | undefined;
  /**
   * Unix seconds, the latest deadline of any authorisation known under this nonce. Undefined: none is known to have
   * left, so there is nothing to wait for.
   */
  readonly deadline: number | undefined;
  readonly nonce: NonceState;
};

export function decideSettlement(view: SettlementView): SettlementDecision {
  const { batchRoot, deadline, nonce } = view;
  if (nonce.funded !== undefined) {
    return nonce.funded.batchRoot === batchRoot
      ? { kind: 'settled', funded: nonce.funded }
      : { kind: 'settled-elsewhere', funded: nonce.funded };
  }
  // Mined and not final: a reorganisation may still remove it.
  if (nonce.pending) {
    return { kind: 'wait' };
  }
  if (nonce.voided) {
    return { kind: 'dead', cause: 'voided' };
  }
  if (deadline !== undefined && nonce.finalBlock.timestampSeconds > deadline) {
    return { kind: 'dead', cause: 'expired' };
  }
  return { kind: 'wait' };
}

/** Why it cannot be told that the batch on chain is the payment of this job. */
export class UnprovenError extends Error {}

function assertProven(isProven: boolean, reason: string): asserts isProven {
  if (!isProven) {
    throw new UnprovenError(reason);
  }
}

/**
 * Whether the batch on chain is the payment that this job requests. Its batchId was used by a batch that this agent did not build
 * (protocol §8, case (c)). The batchId binds the funder, so its money has moved: another agent has paid the key, or this one before its
 * store was lost. The platform's row of the key says what was paid. It counts only as far as the event on chain and the request of this
 * job confirm it.
 *
 * The chain does not show single amounts. They are taken from the request, whose sum the chain confirms, and only if the
 * keyed fingerprint in the row shows that the other agent received the same request. Which commitment belongs to which P
 * is known from the platform only.
 *
 * @param row - of this key
 * @param transferred - base units of the funder's tokens that the transaction moved into the pool
 * @returns for each recipient of the request the commitment of its note
 * @throws UnprovenError
 */
export function readPaidCommitments(
  run: Run,
  row: SettlementRecord | undefined,
  funded: FundedBatch,
  transferred: bigint,
): readonly Hex32[] {
  const { key, requestDigest, recipients } = run.record;
  assertProven(row !== undefined, 'the platform has no settlement of this key');
  const { batch, sealedNotes } = row;
  const own = run.deps.fingerprints.compute(key, requestDigest);
  const bodies = compareFingerprints(own, row.bodyFingerprint);
  assertProven(bodies !== 'other', 'another body was paid under it');
  assertProven(
    bodies === 'same',
    'the agent that paid it has another DISBURSE_FINGERPRINT_KEY or none, so it is unknown whether the body was the same',
  );
  assertProven(
    batch.batchNonce === run.batchNonce &&
      batch.batchRoot === funded.batchRoot &&
      batch.commitments.join() === funded.commitments.join(),
    "the platform's settlement is not the one on chain",
  );
  assertProven(
    batch.sealedNotesHash === funded.sealedNotesHash &&
      computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed)) === funded.sealedNotesHash &&
      sealedNotes.length === funded.commitments.length,
    "the platform's sealed notes are not the ones on chain",
  );
  assertProven(
    batch.token.toLowerCase() === run.token.toLowerCase() &&
      batch.funder.toLowerCase() === run.funder.address.toLowerCase() &&
      BigInt(batch.total) === run.total &&
      transferred === run.total,
    'token, funder or total differ from this request',
  );
  // Each recipient's P must be in a slot of its own. Other slots may be dummies.
  const slots = new Map<string, Hex32[]>();
  for (const [slot, { encryptionPublicKey }] of sealedNotes.entries()) {
    const commitment = funded.commitments[slot];
    const known = slots.get(encryptionPublicKey) ?? [];
    slots.set(encryptionPublicKey, commitment === undefined ? known : [...known, commitment]);
  }
  return recipients.map(({ encryptionPublicKey }) => {
    const commitment = slots.get(encryptionPublicKey)?.shift();
    assertProven(
      commitment !== undefined,
      'a recipient of this request has no note in the batch on chain',
    );
    return commitment;
  });
}
