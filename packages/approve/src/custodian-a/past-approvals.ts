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
      for await (const page of approvals.pages({ limit: '100' })) {
        yield page.flatMap((approval) => readPast(approval, userId));
      }
    },
  };
}

function readPast(approval: Approval, userId: string): readonly PastApproval[] {
  const own = approval.decisions.find((decision) => decision.userId === userId);
  const activity = readActivity(approval.activity);
  if (
    own?.value !== 'Approved' ||
    activity.kind !== 'signature' ||
    activity.reading.kind !== 'preimage'
  ) {
    return [];
  }
  const atMs = Date.parse(own.date ?? approval.dateCreated ?? '');
  if (Number.isNaN(atMs)) {
    // Without its day it would not count in the sum of that day.
    throw new PoolError(
      'custodian_invalid_response',
      `the approval ${approval.id} has no date, so the custodian's history is not complete`,
    );
  }
  return [{ wallet: activity.walletId, preimage: activity.reading.preimage, atMs }];
}
