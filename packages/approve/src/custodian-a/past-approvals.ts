/**
 * The approvals of custodian A that our user gave, newest first.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { HistorySource, PastApproval } from '../gate/history.ts';
import type { Approvals } from './approvals.ts';
import { type Approval, readActivity } from './wire.ts';

export function createPastApprovals(approvals: Approvals, userId: string): HistorySource {
  return {
    async *pages() {
      for await (const page of approvals.pages({}, 100)) {
        yield page.flatMap((approval) => readPast(approval, userId));
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
