/**
 * From what the chain has decided to the terminal state of a spend, and from there to the answer (protocol §8).
 *
 * @module
 */

import { type ErrorBody, type Hex32, PoolError, type SpendReceipt } from '@pool/core';
import { passPoint, rethrowInterruption } from '@pool/idempotency/engine';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import { findGivenUp, isOpen, type SpendRevert, type SpendState } from '../archive/spend-state.ts';
import {
  computePlatformKey,
  type FollowDeps,
  reportRetry,
  retrySpend,
  storeSpendState,
} from './spend-deps.ts';
import type { NullifierState, SpendContext, SpendRow } from './spend-ports.ts';

/** A decision after which the spend ends. */
export type FinalDecision = Exclude<SpendDecision, { readonly kind: 'wait' }>;

/** Reads how the spend ended, and stores it. @returns the spend as it is stored then */
export async function concludeSpend(
  context: SpendContext,
  spend: ArchivedSpend,
  decision: FinalDecision,
  deps: FollowDeps,
): Promise<ArchivedSpend> {
  return storeEnd(spend, await readEnd(context, spend, decision, deps), deps);
}

/** How the spend ended. May be called again after an error. @throws when the chain does not answer */
export async function readEnd(
  context: SpendContext,
  spend: ArchivedSpend,
  decision: FinalDecision,
  deps: FollowDeps,
  lastRefusal = findGivenUp(spend.state),
): Promise<SpendState> {
  await passPoint(deps.onFaultPoint, 'outcome.observed');
  return describeEnd(context, spend, decision, deps, lastRefusal);
}

/** @returns the spend as it is stored then. @throws when the archive does not answer */
export async function storeEnd(
  spend: ArchivedSpend,
  ended: SpendState,
  deps: FollowDeps,
): Promise<ArchivedSpend> {
  const stored = await storeSpendState(
    deps,
    spend.outRoot,
    ended.kind,
    (state) => (isOpen(state) ? ended : undefined),
    { concludedAtMs: deps.clock.nowMs() },
  );
  deps.onEvent({ kind: 'outcome', state: stored.state.kind });
  return stored;
}

async function describeEnd(
  context: SpendContext,
  spend: ArchivedSpend,
  decision: FinalDecision,
  deps: FollowDeps,
  lastRefusal: ErrorBody | undefined,
): Promise<SpendState> {
  if (decision.kind === 'settled') {
    const { txHash, blockNumber } = await retrySpend(deps, () =>
      context.chain.fetchSpentTransaction(spend.outRoot, spend.archivedAtBlock),
    );
    return { kind: 'settled', txHash, blockNumber };
  }
  const revert = knownRevert(spend.state) ?? (await askRevert(context, spend, deps));
  if (revert !== undefined) {
    return { kind: 'reverted', revert };
  }
  return decision.kind === 'expired'
    ? { kind: 'expired', ...(lastRefusal === undefined ? {} : { lastRefusal }) }
    : { kind: 'already-spent' };
}

function knownRevert(state: SpendState): SpendRevert | undefined {
  return 'revert' in state ? state.revert : undefined;
}

/** Only explains an end without a payment, so a platform that does not answer must not keep the notes locked. */
async function askRevert(
  context: SpendContext,
  spend: ArchivedSpend,
  deps: FollowDeps,
): Promise<SpendRevert | undefined> {
  try {
    return await retrySpend(deps, async () => {
      const row = await deps.platform[spend.operation].getSpend(computePlatformKey(spend));
      return row === undefined ? undefined : findRevert(context, spend, row);
    });
  } catch (error) {
    rethrowInterruption(error);
    reportRetry(deps, error);
    return undefined;
  }
}

/** The final, reverted transaction that a row names, if the chain confirms that it carried this spend. */
export async function findRevert(
  { chain }: SpendContext,
  { outRoot }: ArchivedSpend,
  { state, txHash }: SpendRow,
): Promise<SpendRevert | undefined> {
  if (state !== 'reverted' || txHash === undefined) {
    return undefined;
  }
  const receipt = await chain.fetchReceipt(txHash);
  const isOurs =
    receipt?.reverted === true &&
    receipt.final &&
    (await chain.fetchCarriedOutRoot(txHash)) === outRoot;
  return isOurs ? { txHash, error: await chain.fetchRevertReason(txHash) } : undefined;
}

/**
 * The answer to the caller. A receipt with `status: 'reverted'` is answered with 422.
 * @throws PoolError 504 `settlement_expired`, 409 `note_already_spent`
 */
export function createReceipt(spend: ArchivedSpend): SpendReceipt {
  const { operation, inputNullifiers, changeAmount, state } = spend;
  const facts = { operation, nullifiers: [...inputNullifiers], changeAmount };
  switch (state.kind) {
    case 'settled':
      return { ...facts, status: 'success', txHash: state.txHash };
    case 'reverted': {
      const { txHash, error } = state.revert;
      const { code, message } = error;
      return { ...facts, status: 'reverted', txHash, revertReason: { code, message } };
    }
    case 'expired': {
      const why =
        state.lastRefusal === undefined ? '' : ` (last refusal: ${state.lastRefusal.code})`;
      throw new PoolError(
        'settlement_expired',
        `the spend expired before it was settled, and nothing moved${why}; send it again under a new Idempotency-Key`,
        { status: 504 },
      );
    }
    case 'already-spent':
      throw new PoolError(
        'note_already_spent',
        'another spend used one of the notes, so this one can never land and nothing of it moved; send it again under a new Idempotency-Key',
      );
    case 'abandoned':
      throw new PoolError(
        'spend_unfinished',
        'the spend was given up before anything was sent; send the same request again',
      );
    case 'archived':
    case 'signed':
    case 'released':
    case 'recovered':
      throw createUnfinishedError(spend);
  }
}

/** The agent cannot wait for the outcome, and the spend may still land. */
export function createUnfinishedError(
  { deadline }: Pick<ArchivedSpend, 'deadline'>,
  cause?: unknown,
): PoolError {
  const until = new Date(deadline * 1000).toISOString();
  return new PoolError(
    'spend_unfinished',
    `the outcome of the spend is not known, and it can land until ${until}; read the chain or the balance after that time before you pay again`,
    cause === undefined ? {} : { cause },
  );
}

/** The platform refuses the spend for good, so the agent does not send it again. What it has received can still land. */
export function createGivenUpError(
  { deadline }: Pick<ArchivedSpend, 'deadline'>,
  refusal: ErrorBody | undefined,
): PoolError {
  const until = new Date(deadline * 1000).toISOString();
  const why = refusal === undefined ? '' : ` (${refusal.code}: ${refusal.message})`;
  return new PoolError(
    'spend_unfinished',
    `the platform refused the spend because its deadline, ${until}, is further ahead than it accepts, and the agent does not send it again; the platform could still relay it until then, and its notes are free again afterwards. Lower DISBURSE_HOLDER_VOTE_LIMIT_SECONDS of this agent, or have the platform's operator raise PLATFORM_VOTE_LIMIT_SECONDS; after that time, pay under a new Idempotency-Key${why}`,
  );
}

export type SpendDecision =
  /** The spend is on chain, no matter who sent it. */
  | { readonly kind: 'settled' }
  /** Another spend used one of the inputs, so this one can never land. */
  | { readonly kind: 'already-spent' }
  /** The deadline has passed, and the contract refuses the spend from now on. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'wait' };

export type SpendView = {
  readonly outRoot: Hex32;
  /** Unix seconds. The contract accepts the spend while `block.timestamp <= deadline`. */
  readonly deadline: number;
  readonly nullifiers: NullifierState;
};

/**
 * The late-landing rule of spends (protocol §8) as one pure decision: what the final state of the chain means for a spend whose
 * authorisation may have left this machine. Everything uncertain waits.
 */
export function decideSpend({ outRoot, deadline, nullifiers }: SpendView): SpendDecision {
  const { outRoots, pending, finalBlock } = nullifiers;
  const used = outRoots.filter((root) => root !== undefined);
  if (used.includes(outRoot)) {
    return { kind: 'settled' };
  }
  if (used.length > 0) {
    return { kind: 'already-spent' };
  }
  // Mined and not final: a reorganisation may still remove it.
  if (pending) {
    return { kind: 'wait' };
  }
  return finalBlock.timestampSeconds > deadline ? { kind: 'expired' } : { kind: 'wait' };
}
