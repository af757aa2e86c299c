/**
 * The approvals of custodian A that our user gave, newest first.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { createUnread, type HistorySource, type PastApproval } from '../examine/history.ts';
import type { Approvals } from './approvals.ts';
import { type Approval, type ListedApproval, readActivity } from './wire.ts';

/** An approval that cannot be read in its list is read alone. One that our user did not give is nobody's business here. */
export function createPastApprovals(approvals: Approvals, userId: string): HistorySource {
  async function readListed(listed: ListedApproval): Promise<readonly PastApproval[]> {
    if (listed.kind === 'approval') {
      return readPast(listed.approval, userId);
    }
    const alone = (listed.id === undefined ? undefined : await approvals.read(listed.id)) ?? listed;
    if (alone.kind === 'approval') {
      return readPast(alone.approval, userId);
    }
    const { id, voters } = alone;
    return voters?.includes(userId) === false
      ? []
      : [createUnread(id, 'the approval does not have the documented form')];
  }

  return {
    async *pages() {
      for await (const page of approvals.pages({}, 100)) {
        const found: PastApproval[] = [];
        for (const listed of page) {
          found.push(...(await readListed(listed)));
        }
        yield found;
      }
    },
  };
}

function readPast(approval: Approval, userId: string): readonly PastApproval[] {
  const own = approval.decisions.find((decision) => decision.userId === userId);
  if (own?.value !== 'Approved') {
    return [];
  }
  const { id, dateCreated } = approval;
  const atMs = Date.parse(own.date ?? dateCreated ?? '');
  const createdAtMs = Date.parse(dateCreated ?? own.date ?? '');
  if (Number.isNaN(atMs) || Number.isNaN(createdAtMs)) {
    // Without its day it would not count in the sum of that day.
    throw new PoolError(
      'custodian_invalid_response',
      `the approval ${id} has no date, so the custodian's history is not complete`,
    );
  }
  const activity = readActivity(approval.activity);
  return activity.kind === 'signature'
    ? [{ id, wallet: activity.walletId, reading: activity.reading, createdAtMs, atMs }]
    : [{ id, wallet: '', reading: activity, createdAtMs, atMs }];
}
