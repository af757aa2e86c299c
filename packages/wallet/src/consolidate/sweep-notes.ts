/**
 * Brings the notes of earlier P under the present one: each step spends up to 16 notes of one earlier P and pays only its own change
 * (protocol §6: the change goes to the newest P whose viewing key the holder has). After a rotation, whoever has an earlier viewing key
 * learns nothing of the money that was swept before it.
 *
 * @module
 */
import {
  computeAssetId,
  fieldToHex,
  maxSpendInputs,
  PoolError,
  type SpendReceipt,
} from '@pool/core';
import { computeNullifier, type SpendPlan } from '@pool/notes';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import { isOpen } from '../archive/spend-state.ts';
import { type CandidateNote, createOwnIntent, findToken } from '../spend/check-spend.ts';
import { createReceipt } from '../spend/conclude-spend.ts';
import { finishSpend } from '../spend/perform-spend.ts';
import { archiveSpend, planArchived } from '../spend/plan-spend.ts';
import { retrySpend, type SpendDeps } from '../spend/spend-deps.ts';
import type { HolderNote, SpendContext } from '../spend/spend-ports.ts';

export type SweepStep = {
  /** Undefined: nothing was to be done. */
  readonly receipt: SpendReceipt | undefined;
  /** Unspent notes of earlier P before this step, and those of them that a spend which is underway holds. */
  readonly notes: number;
  readonly locked: number;
};

type NoteCounts = Pick<SweepStep, 'notes' | 'locked'>;

/** What a step would find. */
export type SweepCounts = NoteCounts & {
  /**
   * Spends of the archive that pay their change to an earlier P, and whose change this agent has not read: they are underway, or are
   * final and their change is neither among the notes nor used. Nobody lists such a change once another P is registered.
   */
  readonly openChange: number;
};

/**
 * Reads listing and chain for all P of the holder, and moves nothing.
 * @throws PoolError `unknown_token`, `prover_mock`: like {@link sweepOnce}, which would refuse too
 */
export async function countSweepable(symbol: string, deps: SpendDeps): Promise<SweepCounts> {
  // Before the notes are read: a spend that is final here is final for that reading too.
  const spends = await deps.archive.listRecent(0);
  const { context, token, counts, owned } = await findSweepable(symbol, deps);
  const paying = spends.filter((spend) => paysEarlier(spend, context, token, deps));
  let openChange = 0;
  for (const spend of paying) {
    openChange += (await isChangeRead(spend, context, owned, deps)) ? 0 : 1;
  }
  return { ...counts, openChange };
}

/** Has change of this pool and token that is, or will be, sealed to an earlier P. */
function paysEarlier(
  { state, secrets, ...spend }: ArchivedSpend,
  { settings }: SpendContext,
  token: string,
  { holder }: SpendDeps,
): boolean {
  const mayPay = isOpen(state) || state.kind === 'settled';
  const isHere = spend.chainId === settings.chainId && spend.pool === settings.pool;
  return (
    mayPay &&
    isHere &&
    spend.changeAmount !== '0' &&
    secrets !== undefined &&
    secrets.manifest.token.toLowerCase() === token.toLowerCase() &&
    secrets.manifest.changeEncryptionPublicKey !== holder.changeKey
  );
}

async function isChangeRead(
  spend: ArchivedSpend,
  { chain }: SpendContext,
  owned: readonly HolderNote[],
  deps: SpendDeps,
): Promise<boolean> {
  if (isOpen(spend.state)) {
    return false;
  }
  const manifest = spend.secrets?.manifest;
  const [inputs, change] = [manifest?.encryptionPublicKey, manifest?.changeEncryptionPublicKey].map(
    (key) => (key === undefined ? undefined : deps.holder.viewingKeyOf(key)),
  );
  if (inputs === undefined || change === undefined) {
    // A key of an earlier rotation is not configured any more, so the change cannot be computed, or not be opened.
    return true;
  }
  const { plan } = planArchived(spend, deps);
  const { commitment, nullifier } = findChange(plan, change.reveal());
  if (owned.some((note) => note.commitment === commitment)) {
    return true;
  }
  const used = await retrySpend(deps, () => chain.fetchNullifierState([nullifier]));
  return used.pending || used.outRoots[0] !== undefined;
}

/** Slot 0. */
function findChange({ slots, operation, walletId }: SpendPlan, viewingKey: bigint) {
  const [change] = slots;
  if (change === undefined) {
    throw new PoolError('internal_error', 'a spend has no slot for its change');
  }
  const { assetId } = operation;
  const nullifier = computeNullifier({ assetId, nonce: change.nonce, viewingKey, walletId });
  return { commitment: change.commitment, nullifier: fieldToHex(nullifier) };
}

/**
 * One step. Each step is a spend of its own: it is archived before it leaves, and watched if the process is killed. A step that is repeated
 * finds the notes gone, so it needs no Idempotency-Key.
 * @param symbol - token
 * @throws PoolError `unknown_token`, `prover_mock`; like a transfer
 */
export async function sweepOnce(symbol: string, deps: SpendDeps): Promise<SweepStep> {
  const { context, token, counts } = await findSweepable(symbol, deps);
  if (counts.notes === counts.locked) {
    return { receipt: undefined, ...counts };
  }
  const intent = createOwnIntent(context, token, (notes) =>
    chooseSwept(notes.filter((note) => isEarlier(note, deps))),
  );
  const ended = await finishSpend(await archiveSpend(intent, deps), false, deps);
  return { receipt: createReceipt(ended), ...counts };
}

async function findSweepable(symbol: string, deps: SpendDeps) {
  const context = deps.route();
  const { chainId, pool } = context.settings;
  const token = findToken(context, symbol);
  if (deps.prover.mode === 'mock') {
    throw new PoolError('prover_mock', 'DISBURSE_PROVER=mock proves nothing: unset it to spend');
  }
  const assetId = computeAssetId(chainId, pool, token);
  const owned = await retrySpend(deps, () => deps.notes.listSpendable(assetId));
  const held = await deps.archive.listLocked();
  const earlier = owned.filter((note) => isEarlier(note, deps));
  const locked = earlier.filter(({ nullifier }) => held.has(fieldToHex(nullifier))).length;
  const counts: NoteCounts = { notes: earlier.length, locked };
  return { context, token, counts, owned };
}

function isEarlier(
  { encryptionPublicKey }: Pick<CandidateNote, 'encryptionPublicKey'>,
  { holder }: Pick<SpendDeps, 'holder'>,
): boolean {
  return (
    encryptionPublicKey !== holder.changeKey &&
    holder.viewingKeyOf(encryptionPublicKey) !== undefined
  );
}

/** The largest notes of one P first: if the sweep is interrupted, most of the money is moved. */
function chooseSwept(notes: readonly CandidateNote[]): readonly CandidateNote[] | undefined {
  const free = notes
    .filter(({ isLocked }) => !isLocked)
    .sort((one, other) => (one.amount > other.amount ? -1 : one.amount < other.amount ? 1 : 0));
  const [first] = free;
  return first === undefined
    ? undefined
    : free
        .filter(({ encryptionPublicKey }) => encryptionPublicKey === first.encryptionPublicKey)
        .slice(0, maxSpendInputs);
}
