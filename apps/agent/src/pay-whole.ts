/**
 * Submits a roster that is paid in one call, under the protection of its label (docs/decisions/0009).
 *
 * @module
 */
import { type DisbursementJob, PoolError } from '@pool/core';
import type { AgentClient } from './agent-client.ts';
import { createRequest } from './check-parts.ts';
import {
  assertFree,
  type ClaimDeps,
  claimPayRun,
  findSent,
  noteKnown,
  sendPart,
  submitOrFind,
} from './pay-run-claim.ts';
import { computePartKey, computePayRunDigest, type PayRun } from './pay-run-key.ts';

/**
 * The job of this roster under this label: the one that is there, or a new one.
 * @throws PoolError `pay_run_conflict`, and what the agent refuses
 */
export async function payWhole(
  plan: PayRun & { readonly unregistered?: 'fail' | 'skip' | undefined },
  deps: ClaimDeps & { readonly client: AgentClient },
): Promise<DisbursementJob> {
  const { client, ledger } = deps;
  const digest = computePayRunDigest(plan);
  const seen = ledger.read(plan);
  await assertFree(plan, seen, digest, deps);
  const sent = findSent(seen, digest);
  if (sent !== undefined && sent.parts.length > 1) {
    throw new PoolError(
      'pay_run_conflict',
      'this pay run was begun with --split; run it again with --split, or it would be paid twice',
    );
  }
  const place = { digest, part: 1, attempt: sent?.parts[0]?.attempt ?? 1 };
  const key = computePartKey({ payRun: plan.payRun, count: 1, ...place });
  const known = await client.find(key);
  await claimPayRun(plan, { digest, count: 1 }, deps);
  if (known !== undefined) {
    noteKnown(plan, place, deps);
    return known;
  }
  const request = createRequest(plan, plan.entries, plan.unregistered);
  return sendPart(plan, place, () => submitOrFind(client, key, request), deps);
}
