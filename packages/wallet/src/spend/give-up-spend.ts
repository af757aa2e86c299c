/**
 * Takes back the request of a spend that is given up, so that nobody is asked for a vote that has no effect. Nothing depends on it: the
 * notes stay locked until a final block shows that the spend is dead (docs/decisions/0015).
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import { isAskedFor } from '../archive/spend-state.ts';
import { createSpendFile } from './authorize-spend.ts';
import { planArchived } from './plan-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

/** Tries once. A failure is reported and not thrown. */
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
