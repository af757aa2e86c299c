/**
 * Gives up a spend. Its notes are free at once, unless a signer outside this process may have signed it: that signer signs no second
 * spend of a note while the first one can land (docs/decisions/0015).
 *
 * @module
 */
import { errorCodeOf, PoolError } from '@pool/core';
import { toErrorBody } from '@pool/idempotency/engine';
import { RequestExpiredError } from '@pool/signers/holder-signer';
import { type ArchivedSpend, changeSpendState } from '../archive/spend-archive.ts';
import { isAskedFor, isUnreleased, mayAbandon } from '../archive/spend-state.ts';
import { createSpendFile } from './authorize-spend.ts';
import { planArchived } from './plan-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

/**
 * Takes back the request at the signer, so that nobody is asked for a vote that has no effect. Nothing depends on it: the notes stay
 * locked until a final block shows that the spend is dead. Tries once. A failure is reported and not thrown.
 */
export async function withdrawSpendRequest(spend: ArchivedSpend, deps: SpendDeps): Promise<void> {
  if (!isAskedFor(spend.state) || deps.signer.withdrawSpend === undefined) {
    return;
  }
  try {
    const planned = planArchived(spend, deps);
    const { operation, salt } = planned.plan;
    const options = { file: createSpendFile(planned), signal: deps.signal };
    await deps.signer.withdrawSpend(operation, salt, options);
    deps.onEvent({ kind: 'withdrawn' });
  } catch (error) {
    deps.onEvent({ kind: 'not-withdrawn', code: errorCodeOf(error) ?? 'internal_error' });
  }
}

/**
 * Final answers: there is no signature, and there will be none. `manifest_refused`: the approve process did not take the spend, so the
 * custodian was never asked. A request that expired at its provider is another one.
 */
const refusals: readonly string[] = ['signer_refused', 'manifest_refused'];

/**
 * Frees the notes of a spend of which nothing has left, unless its signer may have signed it.
 * @returns the spend as it is stored then; another state wins
 */
export async function abandonSpend(
  spend: ArchivedSpend,
  error: unknown,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  const code = error === undefined ? 'superseded' : toErrorBody(error).code;
  const isRemote = deps.signer.isRemote === true;
  const isRefused = refusals.includes(code) || error instanceof RequestExpiredError;
  const ended = await changeSpendState(deps.archive, spend.outRoot, (state) =>
    mayAbandon(state, { isRemote, isRefused }) ? { kind: 'abandoned', code } : undefined,
  );
  if (!isUnreleased(ended.state)) {
    deps.onEvent({ kind: 'outcome', state: ended.state.kind });
  }
  return ended;
}

/** Its signer may have signed it, so its notes stay locked until a final block shows that it is dead. */
export function createKeptError({ deadline }: ArchivedSpend): PoolError {
  return new PoolError(
    'settlement_expired',
    `the spend was not sent in time, and nothing moved; its notes are free again after ${new Date(deadline * 1000).toISOString()}, then send it under a new Idempotency-Key`,
    { status: 504 },
  );
}
