/**
 * Votes and waiting requests. A vote is stored with everything that it limits before it is sent, and is sent until the custodian shows
 * it.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import { computeGuardDigest } from '../history/guard-id.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import type { SignRequest } from '../requests/requests.ts';
import type { Decision, DecisionRecord } from '../rules/findings.ts';
import { appendAudit, readCountDigests } from './audit.ts';
import { writeHistory } from './history-store.ts';
import type { Statements } from './table.ts';
import { nextId, type Vote, voteTable, type WaitingRequest, waitingTable } from './tables.ts';

/** Where a test stops the process. */
export type LedgerFaultPoint =
  | 'vote.decided'
  | 'vote.recorded'
  | 'vote.committed'
  | 'manifest.recorded'
  | 'manifest.committed';

/** What is asked, for the vote's own record. */
export type Question = {
  /** The custodian's id of the approval or transaction. A request that has a vote is not decided again. */
  readonly requestId: string;
  /** The custodian's id of the transaction, where a request has an id of its own. */
  readonly transactionId?: string | undefined;
  readonly request: SignRequest;
  /** Of the stored manifest that the request belongs to, for the list of waiting requests. */
  readonly manifestDigest?: Hex32 | undefined;
  readonly nowMs: number;
};

type Voted =
  /** The decision is stored as a vote. `isRepeated`: the vote was there, and nothing was decided again. */
  | { readonly kind: 'vote'; readonly vote: Vote; readonly isRepeated: boolean }
  | { readonly kind: 'later'; readonly reason: DecisionReason; readonly message: string };

/** @param write - one transaction of the ledger */
export function createVotes(
  statements: Statements,
  view: LedgerView,
  write: <T>(work: () => T) => T,
  passFaultPoint: (point: LedgerFaultPoint) => void,
) {
  const { run } = statements;

  function findVote(requestId: string): Vote | undefined {
    return voteTable.find(statements, 'WHERE request_id = ?', requestId);
  }

  function audit(event: string, content: object, nowMs: number): void {
    appendAudit(statements, event, content, nowMs);
  }

  function decideVote(question: Question, decide: (view: LedgerView) => Decision): Voted {
    const known = findVote(question.requestId);
    if (known !== undefined) {
      return { kind: 'vote', vote: repeatVote(known, question), isRepeated: true };
    }
    const decision = decide(view);
    passFaultPoint('vote.decided');
    if (decision.kind === 'later') {
      const { reason, message } = decision;
      keepWaiting(question, reason, message);
      return { kind: 'later', reason, message };
    }
    if (decision.kind === 'approve') {
      writeHistory(statements, decision.record.history);
    }
    const vote = insertVote(question, decision);
    passFaultPoint('vote.recorded');
    return { kind: 'vote', vote, isRepeated: false };
  }

  /** A vote holds for the content that it was given for. Under one id, another content is refused. */
  function repeatVote(known: Vote, { requestId, request, nowMs }: Question): Vote {
    const digest = tryComputeDigest(request);
    const { kind } = request;
    if (known.kind === kind && known.digest === digest) {
      return known;
    }
    audit('request.changed', { requestId, voteId: known.id, kind, digest }, nowMs);
    return { ...known, kind, digest, value: 'deny', reason: 'request-changed' };
  }

  function insertVote(question: Question, decision: Decision): Vote {
    const { requestId, transactionId, request, nowMs } = question;
    const record = decision.kind === 'approve' ? decision.record : undefined;
    const named = {
      requestId,
      kind: request.kind,
      value: record === undefined ? 'deny' : 'approve',
      // A payload without a digest is refused, and its vote is stored without one.
      digest: record === undefined ? tryComputeDigest(request) : record.guard.digest,
      reason: decision.kind === 'approve' ? undefined : decision.reason,
      manifestDigest: record === undefined ? question.manifestDigest : record.manifestDigest,
    } as const;
    const vote = { ...named, id: nextId, transactionId, decidedAtMs: nowMs };
    voteTable.write(statements, 'INSERT', vote);
    run('DELETE FROM waiting WHERE request_id = ?', requestId);
    const written = findVote(requestId);
    if (written === undefined) {
      throw new TypeError('a vote that was written is missing');
    }
    const counted = record === undefined ? {} : describeRecord(statements, record);
    audit('vote.decided', { voteId: written.id, ...named, ...counted }, nowMs);
    return written;
  }

  /** Only a new reason is written: a poller asks again every few seconds. */
  function keepWaiting(
    { requestId, request, manifestDigest, nowMs, ...question }: Question,
    reason: DecisionReason,
    message: string,
  ): void {
    const { kind } = request;
    const known = waitingTable.find(statements, 'WHERE request_id = ?', requestId);
    const transactionId = question.transactionId ?? known?.transactionId;
    const isKnown = known?.reason === reason && known.message === message;
    if (isKnown && known.transactionId === transactionId) {
      return;
    }
    const sinceMs = known?.sinceMs ?? nowMs;
    const content = { requestId, transactionId, kind, manifestDigest, reason, message, sinceMs };
    waitingTable.write(statements, 'INSERT OR REPLACE', content);
    if (known?.reason !== reason) {
      audit('request.waits', { requestId, kind, reason }, nowMs);
    }
  }

  return {
    /**
     * Reads the view, decides and stores the vote with guard, sums and pins, in one immediate transaction. A request that has a vote
     * keeps it.
     */
    decide(question: Question, decide: (view: LedgerView) => Decision): Voted {
      const voted = write(() => decideVote(question, decide));
      passFaultPoint('vote.committed');
      return voted;
    },
    findVote,
    /** Votes on requests that belong to this manifest, oldest first. */
    listVotes: (manifestDigest: Hex32): readonly Vote[] =>
      voteTable.list(statements, 'WHERE manifest_digest = ? ORDER BY id', manifestDigest),
    /** Votes that the custodian did not show yet, oldest first. */
    listOpenVotes: (): readonly Vote[] =>
      voteTable.list(statements, 'WHERE seen_at_ms IS NULL ORDER BY id'),
    listWaiting: (): readonly WaitingRequest[] =>
      waitingTable.list(statements, 'ORDER BY since_ms, request_id'),
    /** The transaction of a vote that was stored without one. A vote that has one keeps it. */
    noteTransaction(voteId: number, transactionId: string): void {
      const sql = 'UPDATE vote SET transaction_id = ? WHERE id = ? AND transaction_id IS NULL';
      write(() => run(sql, transactionId, voteId));
    },
    markSent(voteId: number, nowMs: number): void {
      const sql = 'UPDATE vote SET sent_at_ms = ? WHERE id = ? AND sent_at_ms IS NULL';
      write(() => {
        if (run(sql, nowMs, voteId) > 0) {
          audit('vote.sent', { voteId }, nowMs);
        }
      });
    },
    markSeen(voteId: number, nowMs: number): void {
      const sql =
        'UPDATE vote SET seen_at_ms = ?, sent_at_ms = coalesce(sent_at_ms, ?) WHERE id = ? AND seen_at_ms IS NULL';
      write(() => {
        if (run(sql, nowMs, nowMs, voteId) > 0) {
          audit('vote.seen', { voteId }, nowMs);
        }
      });
    },
    /** The request ended at the custodian without our vote: it waits no more. */
    dropWaiting(requestId: string, nowMs: number): void {
      write(() => {
        if (run('DELETE FROM waiting WHERE request_id = ?', requestId) > 0) {
          audit('request.ended', { requestId }, nowMs);
        }
      });
    },
  };
}

/** The digest of the sums makes a lowered one visible. */
function describeRecord(statements: Statements, { guard, history }: DecisionRecord) {
  const counted =
    history.counts.length === 0 ? undefined : readCountDigests(statements, [guard.id]);
  return { guardId: guard.id, counted };
}

function tryComputeDigest(request: SignRequest): Vote['digest'] {
  try {
    return computeGuardDigest(request);
  } catch {
    return undefined;
  }
}
