/**
 * What the owners of a contract wallet are asked to sign, as "disburse-agent release owners" reads it: from the release log each time.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import { listOwnersRequests, type OwnersPlace, type OwnersView } from '@pool/operations';
import type { Payer } from '@pool/pay-run';

/**
 * Of payments that have not ended: without a release policy the log does not say which have.
 * @param owners - undefined: no contract wallet pays
 */
export async function listAsked(
  owners: OwnersPlace | undefined,
  payer: Pick<Payer, 'openAgent'>,
): Promise<readonly OwnersView[]> {
  if (owners === undefined) {
    return [];
  }
  const views = await listOwnersRequests(owners);
  const ended = new Set<string>();
  for (const key of new Set(views.map(({ request }) => request.batch.key))) {
    if (await hasEnded(key, payer)) {
      ended.add(key);
    }
  }
  return views.filter(({ request }) => !ended.has(request.batch.key));
}

async function hasEnded(key: string, payer: Pick<Payer, 'openAgent'>): Promise<boolean> {
  try {
    const job = await payer.openAgent().find(key);
    return job?.state === 'done' || job?.state === 'failed';
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    return false;
  }
}
