/**
 * Brings the notes of earlier P under the present one: each step spends up to 16 notes of one earlier P and pays only its own change
 * (protocol §6: the change goes to the newest P whose viewing key the holder has). After a rotation, whoever has an earlier viewing key
 * learns nothing of the money that was swept before it.
 *
 * @module
 */
import { computeAssetId, fieldToHex, PoolError, type SpendReceipt, spendShapes } from '@pool/core';
import type { CandidateNote, SpendIntent } from './check-spend.ts';
import { createReceipt } from './conclude-spend.ts';
import { finishSpend } from './perform-spend.ts';
import { archiveSpend } from './plan-spend.ts';
import { retrySpend, type SpendDeps } from './spend-deps.ts';

export type SweepStep = {
  /** Undefined: nothing was to be done. */
  readonly receipt: SpendReceipt | undefined;
  /** Unspent notes of earlier P before this step, and those of them that a spend which is underway holds. */
  readonly notes: number;
  readonly locked: number;
};

/** What a step would find. Reads listing and chain for all P of the holder. */
type SweepCounts = Pick<SweepStep, 'notes' | 'locked'>;

/** @throws PoolError `unknown_token`, `prover_mock`: like {@link sweepOnce}, which would refuse too */
export async function countSweepable(symbol: string, deps: SpendDeps): Promise<SweepCounts> {
  return (await findSweepable(symbol, deps)).counts;
}

/**
 * One step. Each step is a spend of its own: it is archived before it leaves, and watched if the process is killed. A step that is repeated
 * finds the notes gone, so it needs no Idempotency-Key.
 * @param symbol - token
 * @throws PoolError `unknown_token`, `prover_mock`; like a transfer
 */
export async function sweepOnce(symbol: string, deps: SpendDeps): Promise<SweepStep> {
  const { context, token, assetId, counts } = await findSweepable(symbol, deps);
  if (counts.notes === counts.locked) {
    return { receipt: undefined, ...counts };
  }
  const intent: SpendIntent = {
    operation: 'transfer',
    context,
    token,
    assetId,
    outputs: [],
    withdrawAmount: 0n,
    recipient: undefined,
    total: 0n,
    choose: (notes) => chooseSwept(notes.filter((note) => isEarlier(note, deps))),
  };
  const ended = await finishSpend(await archiveSpend(intent, deps), false, deps);
  return { receipt: createReceipt(ended), ...counts };
}

async function findSweepable(symbol: string, deps: SpendDeps) {
  const context = deps.route();
  const { tokens, chainId, pool } = context.settings;
  const token = Object.hasOwn(tokens, symbol) ? tokens[symbol]?.address : undefined;
  if (token === undefined) {
    throw new PoolError(
      'unknown_token',
      `token must be a symbol configured for chain ${context.key}: ${Object.keys(tokens).sort().join(', ')}`,
    );
  }
  if (deps.prover.mode === 'mock') {
    throw new PoolError('prover_mock', 'DISBURSE_PROVER=mock proves nothing: unset it to spend');
  }
  const assetId = computeAssetId(chainId, pool, token);
  const owned = await retrySpend(deps, () => deps.notes.listSpendable(assetId));
  const held = await deps.archive.listLocked();
  const earlier = owned.filter((note) => isEarlier(note, deps));
  const locked = earlier.filter(({ nullifier }) => held.has(fieldToHex(nullifier))).length;
  const counts: SweepCounts = { notes: earlier.length, locked };
  return { context, token, assetId, counts };
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
        .slice(0, spendShapes['spend-16x8'].inputs);
}
