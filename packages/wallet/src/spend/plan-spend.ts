/**
 * From a checked request to an archived spend: notes are chosen and locked, and manifest and seed are stored before anything leaves.
 *
 * @module
 */

import {
  bytesToHex32,
  fieldToHex,
  type Hex32,
  hexToBytes,
  isPoolError,
  PoolError,
  parseEvmAddress,
  type SpendManifest,
  spendCircuits,
  spendShapes,
} from '@pool/core';
import { computeDeadline } from '@pool/idempotency/engine';
import {
  buildSpend,
  type DummyInput,
  deriveDummyInputs,
  planSpend as planCoins,
  type SpendPlan,
} from '@pool/notes';
import { describeLocked, markLocked, sumLocked } from '../archive/locked-notes.ts';
import { type ArchivedSpend, requireSecrets } from '../archive/spend-archive.ts';
import {
  type CandidateNote,
  describeAmount,
  type SpendIntent,
  writeAmount,
} from './check-spend.ts';
import { fetchNow, passStored, retrySpend, type SpendDeps } from './spend-deps.ts';
import { fetchUses } from './used-inputs.ts';

/** Everything that follows from manifest, seed and viewing key. Secret. */
export type PlannedSpend = {
  readonly manifest: SpendManifest;
  readonly seed: Hex32;
  /** v of the inputs. */
  readonly viewingKey: bigint;
  readonly dummies: readonly DummyInput[];
  readonly plan: SpendPlan;
};

/** Another spend can lock the chosen notes between the choice and the archive. More often than that, something is wrong. */
const maxChoices = 8;

/**
 * Chooses notes and makes a manifest and a fresh seed. Nothing is stored.
 * @throws PoolError `insufficient_funds` with `spendable`, `consolidation_required` with `spendable` and `largestSpend`,
 *   `note_history_incomplete` if the contract has a note as used that the node's events show as unspent
 */
export async function planNewSpend(checked: SpendIntent, deps: SpendDeps): Promise<PlannedSpend> {
  const { context, outputs, recipient } = checked;
  const nowSeconds = await retrySpend(deps, () => fetchNow(deps, context));
  const { notes, circuit, changeAmount } = await chooseUnused(checked, deps);
  const [first] = notes;
  if (first === undefined) {
    throw new PoolError('internal_error', 'the selection has no note');
  }
  const manifest: SpendManifest = {
    version: 1,
    kind: 'spend',
    chain: context.key,
    chainId: context.settings.chainId,
    pool: context.settings.pool,
    token: checked.token,
    circuit,
    walletPub: deps.holder.walletPub,
    encryptionPublicKey: first.encryptionPublicKey,
    inputNullifiers: notes.map(({ nullifier }) => fieldToHex(nullifier)),
    changeEncryptionPublicKey: deps.holder.changeKey,
    changeAmount: changeAmount.toString(),
    outputs: outputs.map((output) => ({ ...output, evidence: { ...output.evidence } })),
    withdrawAmount: checked.withdrawAmount.toString(),
    ...(recipient === undefined ? {} : { recipient }),
    deadline: computeDeadline(nowSeconds, deps.deadlineSeconds),
  };
  return planManifest(manifest, bytesToHex32(deps.randomBytes(32)), deps);
}

/** Notes that the contract has as unused. Another agent of the same holder may have spent some since the chain was read. */
async function chooseUnused(checked: SpendIntent, deps: SpendDeps) {
  for (let choice = 0; choice < maxChoices; choice += 1) {
    const chosen = await chooseNotes(checked, deps);
    const nullifiers = chosen.notes.map(({ nullifier }) => fieldToHex(nullifier));
    const uses = await retrySpend(deps, () => fetchUses(checked.context, nullifiers));
    if (uses.length === 0) {
      return chosen;
    }
    await retrySpend(deps, () => deps.notes.compareUses(checked.assetId, uses));
  }
  throw new PoolError(
    'notes_unavailable',
    'other spends used the chosen notes again and again, so nothing was sent; send the same request again',
    { status: 503, retryable: true },
  );
}

async function chooseNotes(checked: SpendIntent, deps: SpendDeps) {
  const candidates = await listCandidates(checked, deps);
  if (checked.choose !== undefined) {
    return describeChoice(checked.choose(candidates) ?? []);
  }
  const planned = planCoins(candidates, checked.total, checked.outputs.length);
  switch (planned.kind) {
    case 'selected':
      return planned;
    case 'insufficient':
      throw createInsufficient(planned.spendable, candidates, checked);
    case 'consolidation-required':
      throw new PoolError(
        'consolidation_required',
        `one spend can cover at most ${describeAmount(planned.largestSpend, checked)} with the notes as they are; spend less at once, or merge notes first with "disburse-agent consolidate --until ${writeAmount(checked.total, checked)}"`,
        {
          details: {
            spendable: planned.spendable.toString(),
            largestSpend: planned.largestSpend.toString(),
          },
        },
      );
    case 'too-many-recipients':
      throw new PoolError(
        'too_many_recipients',
        `one transfer pays at most ${planned.maxRecipients} wallets`,
      );
  }
}

/** A spend that pays only its own change, with the smallest circuit that has its inputs. */
function describeChoice<TNote extends { readonly amount: bigint }>(notes: readonly TNote[]) {
  const circuit = spendCircuits.find((name) => notes.length <= spendShapes[name].inputs);
  if (circuit === undefined || notes.length === 0) {
    throw new PoolError('notes_unavailable', 'there is no note to spend', {
      status: 503,
      retryable: false,
    });
  }
  const changeAmount = notes.reduce((total, { amount }) => total + amount, 0n);
  return { kind: 'selected', notes, circuit, changeAmount } as const;
}

/** The holder's notes that this agent can spend, with their locks. */
export async function listCandidates(
  { assetId }: Pick<SpendIntent, 'assetId'>,
  deps: SpendDeps,
): Promise<readonly CandidateNote[]> {
  const owned = await retrySpend(deps, () => deps.notes.listSpendable(assetId));
  const locked = await deps.archive.listLocked();
  const usable = owned.filter(
    ({ encryptionPublicKey }) => deps.holder.viewingKeyOf(encryptionPublicKey) !== undefined,
  );
  return markLocked(usable, await deps.archive.listOpen()).map((note) => ({
    ...note,
    isLocked: locked.has(fieldToHex(note.nullifier)),
  }));
}

/**
 * @param spendable - base units of the notes that are free
 * @param notes - all of the token
 */
export function createInsufficient(
  spendable: bigint,
  notes: readonly CandidateNote[],
  spend: Pick<SpendIntent, 'context' | 'token'>,
): PoolError {
  const found = `the notes that are free to spend hold ${describeAmount(spendable, spend)}`;
  const locked = sumLocked(notes);
  if (locked === undefined) {
    return new PoolError('insufficient_funds', found, {
      details: { spendable: spendable.toString() },
    });
  }
  const details = { spendable: spendable.toString(), ...describeLocked(locked) };
  return new PoolError(
    'insufficient_funds',
    `${found}; spends that are underway lock ${describeAmount(locked.amount, spend)} more, until a block after ${details.lockedUntil} is final at the latest`,
    { details },
  );
}

/** Rebuilds what a stored manifest and seed say. @throws PoolError `configuration_changed` if v of the inputs is missing */
function planManifest(
  manifest: SpendManifest,
  seed: Hex32,
  { holder }: Pick<SpendDeps, 'holder'>,
): PlannedSpend {
  const viewingKey = holder.viewingKeyOf(manifest.encryptionPublicKey)?.reveal();
  if (viewingKey === undefined || manifest.walletPub !== holder.walletPub) {
    throw new PoolError(
      'configuration_changed',
      'the spend of this key began with another wallet or viewing key than the agent has now; restore them to finish it, and do not pay again under a new key before',
    );
  }
  const seedBytes = hexToBytes(seed, 32);
  const dummies = deriveDummyInputs(manifest, seedBytes, viewingKey);
  const plan = buildSpend(
    manifest,
    seedBytes,
    dummies.map(({ nullifier }) => nullifier),
  );
  return { manifest, seed, viewingKey, dummies, plan };
}

/** Rebuilds an archived spend. @throws PoolError `configuration_changed`, `spend_unreadable` */
export function planArchived(spend: ArchivedSpend, deps: SpendDeps): PlannedSpend {
  const { manifest, seed } = requireSecrets(spend);
  const planned = planManifest(manifest, seed, deps);
  if (fieldToHex(planned.plan.operation.outRoot) !== spend.outRoot) {
    throw new PoolError(
      'spend_unreadable',
      'manifest and seed of an archived spend do not give its outputs; restore the archive of spends from a backup',
    );
  }
  return planned;
}

/**
 * Chooses notes and archives the spend, which locks them. Another spend may be faster; then other notes are chosen.
 * @throws PoolError `spend_not_archived` if it could not be stored; like {@link planNewSpend}
 */
export async function archiveSpend(checked: SpendIntent, deps: SpendDeps): Promise<ArchivedSpend> {
  for (let choice = 0; choice < maxChoices; choice += 1) {
    const { chain } = checked.context;
    const archivedAtBlock = await retrySpend(deps, () => chain.fetchFinalBlockNumber());
    const planned = await planNewSpend(checked, deps);
    const spend = { ...describeSpend(checked, planned, deps), archivedAtBlock };
    await passStored(deps.onFaultPoint, 'archived', 'before');
    const isStored = await store(spend, deps);
    await passStored(deps.onFaultPoint, 'archived', 'after');
    if (isStored) {
      return spend;
    }
  }
  throw new PoolError(
    'spend_not_archived',
    'other spends took the chosen notes again and again, so nothing was sent; send the same request again',
    { status: 503, retryable: true },
  );
}

async function store(spend: ArchivedSpend, { archive }: SpendDeps): Promise<boolean> {
  try {
    return await archive.add(spend);
  } catch (cause) {
    if (isPoolError(cause)) {
      // The archive's own check refused it, and says why.
      throw cause;
    }
    throw new PoolError(
      'spend_not_archived',
      'the spend could not be archived, so nothing was sent; check the disk of the agent directory',
      { cause },
    );
  }
}

function describeSpend(
  { operation }: SpendIntent,
  { manifest, seed, plan }: PlannedSpend,
  { clock, owner }: SpendDeps,
): ArchivedSpend {
  const { chain, chainId, pool, inputNullifiers, deadline, changeAmount } = manifest;
  return {
    version: 1,
    operation,
    chain,
    chainId,
    pool: parseEvmAddress(pool),
    outRoot: fieldToHex(plan.operation.outRoot),
    inputNullifiers,
    deadline,
    changeAmount,
    createdAtMs: clock.nowMs(),
    owner,
    secrets: { manifest, seed },
    state: { kind: 'archived' },
  };
}
