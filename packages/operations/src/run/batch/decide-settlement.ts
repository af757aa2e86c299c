/**
 * The late-landing rule (protocol §8) as one pure decision: what the final state of the chain means for a batch whose
 * authorisation may have left this process. `failed` and `partial` require a dead authorisation. Everything uncertain waits.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import type { ErrorBody, EvmAddress, Hex32 } from '@pool/core';
import { computeSealedNotesHash } from '@pool/notes';
import type { FundedBatch, NonceState } from '../../ports.ts';
import { compareFingerprints } from '../job/body-fingerprint.ts';
import type { Run } from '../job/run.ts';
import { isUnderNonce, judgeRow } from './foreign-settlement.ts';

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

/** What chain and platform show of one nonce, and of the key. */
export type KeyUse = {
  readonly nonce: NonceState;
  readonly decision: SettlementDecision;
  /** The platform's settlement under this nonce. */
  readonly own: SettlementRecord | undefined;
  /** Why the job must not pay: a settlement of the key on other terms has paid it, or may. */
  readonly other: ErrorBody | undefined;
};

/** @param under - the nonce, the root of its batch, and the deadlines of what may have left under it, as far as they are known */
export async function readUse(
  run: Run,
  under: {
    readonly funder: EvmAddress;
    readonly batchNonce: Hex32;
    readonly batchRoot: Hex32 | undefined;
    readonly deadlines: readonly (number | undefined)[];
  },
): Promise<KeyUse> {
  const { funder, batchNonce, batchRoot } = under;
  const nonce = await run.chain.fetchNonceState(funder, batchNonce);
  const row = await run.platform.getSettlement(run.record.key);
  const own = row !== undefined && isUnderNonce(row, funder, batchNonce) ? row : undefined;
  const known = [...under.deadlines, own?.batch.deadline].filter((one) => one !== undefined);
  const deadline = known.length === 0 ? undefined : Math.max(...known);
  const decision = decideSettlement({ batchRoot, deadline, nonce });
  const isJudged = row !== undefined && own === undefined && nonce.funded === undefined;
  const other = isJudged && !nonce.pending ? await judgeRow(run, row) : undefined;
  return { nonce, decision, own, other };
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
 * @returns for each recipient of the request the commitment of its note. A text: why it cannot be told that this request was paid
 */
export function readPaidCommitments(
  run: Run,
  row: SettlementRecord | undefined,
  funded: FundedBatch,
  transferred: bigint,
): readonly Hex32[] | string {
  const { key, requestDigest, recipients } = run.record;
  if (row === undefined) {
    return 'the platform has no settlement of this key';
  }
  const { batch, sealedNotes } = row;
  const own = run.deps.fingerprints.compute(key, requestDigest);
  const bodies = compareFingerprints(own, row.bodyFingerprint);
  const sealed = sealedNotes.map((note) => note.sealed);
  // Each recipient's P must be in a slot of its own. Other slots may be dummies.
  const slots = new Map<string, Hex32[]>();
  for (const [slot, { encryptionPublicKey }] of sealedNotes.entries()) {
    const commitment = funded.commitments[slot];
    const known = slots.get(encryptionPublicKey) ?? [];
    slots.set(encryptionPublicKey, commitment === undefined ? known : [...known, commitment]);
  }
  const found = recipients
    .map(({ encryptionPublicKey }) => slots.get(encryptionPublicKey)?.shift())
    .filter((commitment) => commitment !== undefined);
  const conditions: readonly (readonly [boolean, string])[] = [
    [bodies !== 'other', 'another body was paid under it'],
    [
      bodies === 'same',
      'the agent that paid it has another DISBURSE_FINGERPRINT_KEY or none, so it is unknown whether the body was the same',
    ],
    [
      batch.batchNonce === run.batchNonce &&
        batch.batchRoot === funded.batchRoot &&
        batch.commitments.join() === funded.commitments.join(),
      "the platform's settlement is not the one on chain",
    ],
    [
      batch.sealedNotesHash === funded.sealedNotesHash &&
        computeSealedNotesHash(sealed) === funded.sealedNotesHash &&
        sealed.length === funded.commitments.length,
      "the platform's sealed notes are not the ones on chain",
    ],
    [
      batch.token.toLowerCase() === run.token.toLowerCase() &&
        batch.funder.toLowerCase() === run.funder.address.toLowerCase() &&
        BigInt(batch.total) === run.total &&
        transferred === run.total,
      'token, funder or total differ from this request',
    ],
    [
      found.length === recipients.length,
      'a recipient of this request has no note in the batch on chain',
    ],
  ];
  const failed = conditions.find(([isMet]) => !isMet);
  return failed === undefined ? found : failed[1];
}
