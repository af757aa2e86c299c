/**
 * Votes and waiting requests. A vote is stored with everything that it limits before it is sent, and is sent until the custodian shows
 * it.
 *
 * @module
 */

import { computeGuardDigest } from '../history/guard-id.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { Decision, DecisionRecord } from '../rules/decision.ts';
import { appendAudit } from './audit.ts';
import { readCountDigests } from './counted-digests.ts';
import type { Question, Vote, Voted, WaitingRequest } from './ledger.ts';
import { createView } from './read-view.ts';
import type { Statements } from './statements.ts';
import { nextId, voteTable, waitingTable } from './tables.ts';
import { writeHistory } from './write-history.ts';

/** Where a test stops the process. */
export type LedgerFaultPoint =
  | 'vote.decided'
  | 'vote.recorded'
  | 'vote.committed'
  | 'manifest.recorded'
  | 'manifest.committed';

export function findVote(statements: Statements, requestId: string): Vote | undefined {
  return voteTable.find(statements, 'WHERE request_id = ?', requestId);
}

/** Runs inside a transaction. */
export function decideVote(
  statements: Statements,
  question: Question,
  decide: (view: LedgerView) => Decision,
  passFaultPoint: (point: LedgerFaultPoint) => void,
): Voted {
  const known = findVote(statements, question.requestId);
  if (known !== undefined) {
    return { kind: 'vote', vote: repeatVote(statements, known, question), isRepeated: true };
  }
  const decision = decide(createView(statements));
  passFaultPoint('vote.decided');
  if (decision.kind === 'later') {
    const { reason, message } = decision;
    keepWaiting(statements, question, reason, message);
    return { kind: 'later', reason, message };
  }
  if (decision.kind === 'approve') {
    writeHistory(statements, decision.record.history);
  }
  const vote = insertVote(statements, question, decision);
  passFaultPoint('vote.recorded');
  return { kind: 'vote', vote, isRepeated: false };
}

/** A vote holds for the content that it was given for. Under one id, another content is refused. */
function repeatVote(
  statements: Statements,
  known: Vote,
  { requestId, request, nowMs }: Question,
): Vote {
  const digest = tryComputeDigest(request);
  if (known.kind === request.kind && known.digest === digest) {
    return known;
  }
  appendAudit(
    statements,
    'request.changed',
    {
      requestId,
      voteId: known.id,
      kind: request.kind,
      ...(digest === undefined ? {} : { digest }),
    },
    nowMs,
  );
  return { ...known, kind: request.kind, digest, value: 'deny', reason: 'request-changed' };
}

function insertVote(
  statements: Statements,
  question: Question,
  decision: Extract<Decision, { kind: 'approve' | 'deny' }>,
): Vote {
  const { requestId, transactionId, request, nowMs } = question;
  const isApproval = decision.kind === 'approve';
  // A payload without a digest is refused, and its vote is stored without one.
  const digest = isApproval ? decision.record.guard.digest : tryComputeDigest(request);
  const manifestDigest = isApproval ? decision.record.manifestDigest : question.manifestDigest;
  const reason = isApproval ? undefined : decision.reason;
  voteTable.write(statements, 'INSERT', {
    id: nextId,
    requestId,
    transactionId,
    kind: request.kind,
    digest,
    value: decision.kind,
    reason,
    manifestDigest,
    decidedAtMs: nowMs,
    sentAtMs: undefined,
    seenAtMs: undefined,
  });
  statements.run('DELETE FROM waiting WHERE request_id = ?', requestId);
  const vote = findVote(statements, requestId);
  if (vote === undefined) {
    throw new TypeError('a vote that was written is missing');
  }
  appendAudit(
    statements,
    'vote.decided',
    {
      voteId: vote.id,
      requestId,
      kind: request.kind,
      value: decision.kind,
      ...(digest === undefined ? {} : { digest }),
      ...(reason === undefined ? {} : { reason }),
      ...(manifestDigest === undefined ? {} : { manifestDigest }),
      ...(isApproval ? describeRecord(statements, decision.record) : {}),
    },
    nowMs,
  );
  return vote;
}

/** The digest of the sums makes a lowered one visible. */
function describeRecord(statements: Statements, { guard, history }: DecisionRecord) {
  const counted =
    history.counts.length === 0 ? {} : { counted: readCountDigests(statements, [guard.id]) };
  return { guardId: guard.id, ...counted };
}

function tryComputeDigest(request: Question['request']): Vote['digest'] {
  try {
    return computeGuardDigest(request);
  } catch {
    return undefined;
  }
}

/** Only a new reason is written: a poller asks again every few seconds. */
function keepWaiting(
  statements: Statements,
  { requestId, transactionId, request, manifestDigest, nowMs }: Question,
  reason: WaitingRequest['reason'],
  message: string,
): void {
  const known = waitingTable.find(statements, 'WHERE request_id = ?', requestId);
  const txId = transactionId ?? known?.transactionId;
  if (known?.reason === reason && known.message === message && known.transactionId === txId) {
    return;
  }
  waitingTable.write(statements, 'INSERT OR REPLACE', {
    requestId,
    transactionId: txId,
    kind: request.kind,
    manifestDigest,
    reason,
    message,
    sinceMs: known?.sinceMs ?? nowMs,
  });
  if (known?.reason !== reason) {
    appendAudit(statements, 'request.waits', { requestId, kind: request.kind, reason }, nowMs);
  }
}

export function noteTransaction({ run }: Statements, voteId: number, transactionId: string): void {
  run(
    'UPDATE vote SET transaction_id = ? WHERE id = ? AND transaction_id IS NULL',
    transactionId,
    voteId,
  );
}

export function markSent(statements: Statements, voteId: number, nowMs: number): void {
  const isFirst = statements.run(
    'UPDATE vote SET sent_at_ms = ? WHERE id = ? AND sent_at_ms IS NULL',
    nowMs,
    voteId,
  );
  if (isFirst > 0) {
    appendAudit(statements, 'vote.sent', { voteId }, nowMs);
  }
}

export function markSeen(statements: Statements, voteId: number, nowMs: number): void {
  const isFirst = statements.run(
    'UPDATE vote SET seen_at_ms = ?, sent_at_ms = coalesce(sent_at_ms, ?) WHERE id = ? AND seen_at_ms IS NULL',
    nowMs,
    nowMs,
    voteId,
  );
  if (isFirst > 0) {
    appendAudit(statements, 'vote.seen', { voteId }, nowMs);
  }
}

export function dropWaiting(statements: Statements, requestId: string, nowMs: number): void {
  if (statements.run('DELETE FROM waiting WHERE request_id = ?', requestId) > 0) {
    appendAudit(statements, 'request.ended', { requestId }, nowMs);
  }
}
