/**
 * Decides what a posted spend is: a new one, a replay, a fresh proof for the same signature, or another spend under the key of a
 * dead one (protocol §8, "Late landing").
 *
 * @module
 */

import type { Capability, SpendRequest } from '@pool/api';
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { askChain } from '@pool/evm-sender';
import {
  assertDeadline,
  defaultSpendLimits,
  reserveSpendGas,
  type SpendLimits,
} from '../budget/limits.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { assertSpendForm, type SpendForm } from '../checks/check-form.ts';
import type { SettlementChecks } from '../checks/settlement-checks.ts';
import { assertMayFollow, fetchOutRoots, findChain } from '../store/on-chain.ts';
import {
  areLabelsOther,
  describeNewSpend,
  disputeLabels,
  isSameSpend,
  spendConflict,
} from '../store/spend-store.ts';
import {
  findSubmission,
  mayReopen,
  type ReserveGas,
  type SubmissionRow,
  storeChecked,
} from '../store/submissions.ts';

export type AcceptSpendDeps = {
  readonly db: PlatformDatabase;
  readonly chains: ReadonlyMap<string, PoolChain>;
  readonly checks: Pick<SettlementChecks, 'assertSpendProven'>;
  readonly nowMs: () => number;
  /** Whether a holder must be admitted before the relayer pays for its spends. */
  readonly admission: { readonly invitations: 'off' | 'required' | 'screened' };
  /** Called after the look-up of stored rows and before every other check. It may refuse by throwing. */
  readonly beforeWork?: (() => void | Promise<void>) | undefined;
  /** Default: {@link defaultSpendLimits}. */
  readonly spendLimits?: SpendLimits;
};

/** Who posts a spend, by an API key. */
export type Holder = { readonly address: string; readonly capability: Capability };

const chainTimeoutMs = 5_000;

/**
 * Stores the spend, or finds the stored one. The cheapest check comes first, as for settlements, and nothing is stored before all
 * of them pass. A replay stores nothing and needs no check.
 * @throws PoolError `invalid-chain`, `invalid_spend`, `deadline_too_far`, `proof_invalid`, `size_unsupported` (400), `forbidden`
 *   `spender_not_admitted` (403), `idempotency_conflict`, `note_already_spent` (409), `rate_limited`, `gas_budget_exceeded` (429), `chain_unreachable`,
 *   `verifier_unavailable` (503)
 */
export async function acceptSpend(
  deps: AcceptSpendDeps,
  holder: Holder,
  key: string,
  request: SpendRequest,
): Promise<SubmissionRow> {
  const { db, checks, nowMs, spendLimits: limits = defaultSpendLimits } = deps;
  assertMaySpend(holder, request.spend.withdrawAmount);
  const chain = findChain(deps.chains, request.chain, 'spends');
  const form = assertSpendForm(request, chain.settings);
  const isSameAs = (row: SubmissionRow) => isSameSpend(row, request, form.sealedNotesHash);
  const standing = await findSubmission(db, holder.address, key);
  const isSame = standing !== undefined && isSameAs(standing);
  if (isSame && !mayReopen(standing)) {
    return standing;
  }
  await deps.beforeWork?.();
  await assertSpenderAdmitted(deps, holder);
  if (!isSame) {
    await assertOutputsFree(deps, holder, request, form, chain);
  }
  const question = { chain: request.chain, circuit: form.circuit };
  const reserve: ReserveGas = (trx) =>
    reserveSpendGas(trx, holder.address, question, standing?.id, limits, nowMs());
  // Once before the checks that take long, and once with the row.
  await db.transaction().execute(reserve);
  await assertDeadline(chain, request.spend.deadline, limits, nowMs(), 'spend');
  if (standing !== undefined && !isSame) {
    const own = standing.chain === chain.key ? chain : undefined;
    await assertMayFollow(own, standing, spendConflict);
  }
  await assertUnspent(chain, request);
  await checks.assertSpendProven(holder.address, request, form, chain.settings);
  const owner = { holder: holder.address, key };
  const submission = describeNewSpend(owner, request, form.sealedNotesHash, nowMs(), reserve);
  return await storeChecked(db, submission, standing, isSameAs);
}

/** A key that can transfer cannot withdraw, and the reverse. @throws PoolError `forbidden` (403) */
function assertMaySpend({ capability }: Holder, withdrawAmount: string): void {
  if (capability === 'holder.transfer' && withdrawAmount !== '0') {
    throw new PoolError('forbidden', 'this key transfers only; withdraw with a holder.send key');
  }
  if (capability === 'holder.send' && withdrawAmount === '0') {
    throw new PoolError(
      'forbidden',
      'this key withdraws only; transfer with a holder.transfer key',
    );
  }
}

/**
 * An account costs nothing, and each would have a day's gas of its own. The notes stay spendable without this platform.
 * @throws PoolError `spender_not_admitted` (403)
 */
export async function assertSpenderAdmitted(
  { db, admission }: Pick<AcceptSpendDeps, 'db' | 'admission'>,
  { address }: Pick<Holder, 'address'>,
): Promise<void> {
  if (admission.invitations !== 'off' && !(await isAdmitted(db, address))) {
    throw new PoolError(
      'spender_not_admitted',
      'this platform sends spends of admitted wallets only: enrol this wallet first, or withdraw without the platform with `disburse-agent send --self-submit`',
    );
  }
}

/**
 * Refuses a spend whose outputs have a row already. If its labels differ, they count only with a valid proof: whoever has none has seen
 * nothing but the hash. A settled spend has no dispute: either this relayer sent it, with the labels of before it was public, or its
 * notes are served to everybody already.
 * @throws PoolError `idempotency_conflict` (409), and as `assertSpendProven`
 */
async function assertOutputsFree(
  { db, checks, nowMs }: AcceptSpendDeps,
  { address }: Holder,
  request: SpendRequest,
  form: SpendForm,
  { settings }: PoolChain,
): Promise<void> {
  const { chain, spend, sealedNotes } = request;
  const taken = await db
    .selectFrom('submissions')
    .select(['id', 'sealed_notes_hash', 'state'])
    .where('kind', '=', 'spend')
    .where('chain', '=', chain)
    .where('root', '=', spend.outRoot)
    .executeTakeFirst();
  if (taken === undefined) {
    return;
  }
  if (
    taken.sealed_notes_hash === form.sealedNotesHash &&
    taken.state !== 'settled' &&
    (await areLabelsOther(db, taken.id, sealedNotes))
  ) {
    await checks.assertSpendProven(address, request, form, settings);
    await disputeLabels(db, taken.id, nowMs());
  }
  throw spendConflict();
}

/** @throws PoolError `note_already_spent` (409), `chain_unreachable` (503, retryable) */
async function assertUnspent(chain: PoolChain, { spend }: SpendRequest): Promise<void> {
  const roots = await askChain(() => fetchOutRoots(chain, spend.nullifiers), chainTimeoutMs);
  // Its own outputs: somebody else has sent it, and the index will find it.
  if (roots.some((root) => root !== undefined && root !== spend.outRoot)) {
    throw new PoolError(
      'note_already_spent',
      'spend refused: a note of it is spent already; read the balance again and spend other notes',
    );
  }
}

/** Whether the gate put the wallet on the list, and neither the gate nor the operator has taken it off since. */
export async function isAdmitted(db: PlatformDatabase, address: string): Promise<boolean> {
  const subject = await db
    .selectFrom('subjects')
    .select('admitted_at')
    .where('address', '=', address)
    .executeTakeFirst();
  return (subject?.admitted_at ?? null) !== null;
}
