/**
 * The transport of custodian A: it looks for approvals that wait, has each judged, and votes. A vote is stored before it is sent, read
 * back, and sent again until it stands; each user votes once, so a vote that stands is never sent again.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { decisionReasons, type Ledger, type Vote } from '@pool/policy';
import type { FaultPoint } from '../config/variables.ts';
import type { GateLog } from '../gate/gate-log.ts';
import type { Judge, Judgement } from '../gate/judge.ts';
import type { Approvals } from './approvals.ts';
import { type Activity, type Approval, readActivity } from './wire.ts';

export type PollerDeps = {
  readonly approvals: Approvals;
  readonly judge: Judge;
  readonly ledger: Ledger;
  /** The approver's own user. */
  readonly userId: string;
  /** False: nothing is voted, neither yes nor no. */
  readonly mayVote: () => boolean;
  readonly isDryRun: boolean;
  readonly nowMs: () => number;
  readonly log: GateLog;
  readonly fault: (point: FaultPoint) => void;
  /** For metrics. */
  readonly onAnswer: (value: 'approve' | 'deny') => void;
};

export type PollOutcome = {
  readonly pending: number;
  readonly voted: number;
  readonly waiting: number;
  readonly failed: number;
};

export type Poller = {
  /** One look at everything. An approval whose vote fails does not stop the others. @throws if the list cannot be read */
  poll(): Promise<PollOutcome>;
};

export function createPoller(deps: PollerDeps): Poller {
  const { approvals, ledger, userId, nowMs, log, fault } = deps;
  /** Denials that no ledger describes, and dry runs, each logged once. */
  const told = new Set<string>();

  function tellOnce(approvalId: string, event: string, data: Readonly<Record<string, unknown>>) {
    if (!told.has(approvalId)) {
      told.add(approvalId);
      ledger.writeAudit(event, { requestId: approvalId, ...data }, nowMs());
    }
  }

  async function judge(approval: Approval, activity: Activity): Promise<Judgement> {
    if (activity.kind === 'foreign') {
      return activity;
    }
    if (activity.reading.kind === 'foreign') {
      return activity.reading;
    }
    return await deps.judge.judge({
      requestId: approval.id,
      origin: {
        kind: 'custodian',
        wallet: activity.walletId,
        initiator: approval.initiatorId ?? '',
      },
      preimage: activity.reading.preimage,
    });
  }

  /** @returns whether a vote of ours stands */
  async function handle(approval: Approval): Promise<'voted' | 'waiting'> {
    if (endOwnVote(approval)) {
      return 'voted';
    }
    const judgement = await judge(approval, readActivity(approval.activity));
    switch (judgement.kind) {
      case 'later':
        log.debug({ approval: approval.id, reason: judgement.reason }, 'approval waits');
        return 'waiting';
      case 'dry-run': {
        const { decision } = judgement;
        const reason = decision.kind === 'approve' ? null : decision.reason;
        log.info({ approval: approval.id, would: decision.kind, reason }, 'dry run');
        return 'waiting';
      }
      case 'foreign': {
        if (deps.isDryRun) {
          log.info({ approval: approval.id, would: 'deny', reason: judgement.message }, 'dry run');
          return 'waiting';
        }
        tellOnce(approval.id, 'denied-foreign', { message: judgement.message });
        log.warn({ approval: approval.id, reason: judgement.message }, 'approval denied');
        await approvals.vote(approval.id, 'Denied', judgement.message);
        deps.onAnswer('deny');
        return 'voted';
      }
      case 'vote':
        fault('vote.after-decide');
        await send(judgement.vote);
        return 'voted';
    }
  }

  /** Sends a stored vote, and reads back what stands. */
  async function send(vote: Vote): Promise<void> {
    fault('vote.before-send');
    const isApproval = vote.value === 'approve';
    const reason = vote.reason === undefined ? 'approved' : decisionReasons[vote.reason];
    await approvals.vote(vote.requestId, isApproval ? 'Approved' : 'Denied', reason);
    ledger.markSent(vote.id, nowMs());
    deps.onAnswer(vote.value);
    fault('vote.after-send');
    const standing = await approvals.read(vote.requestId);
    if (standing !== undefined) {
      endOwnVote(standing);
    }
    fault('vote.after-read-back');
    log.info(
      { approval: vote.requestId, kind: vote.kind, vote: vote.value, reason: vote.reason ?? null },
      'voted',
    );
  }

  /** Ends the stored vote of an approval that shows ours, or that is over. @returns whether there is nothing left to do */
  function endOwnVote(approval: Approval): boolean {
    const own = approval.decisions.find((decision) => decision.userId === userId);
    if (own === undefined && approval.status === 'Pending') {
      return false;
    }
    const vote = ledger.findVote(approval.id);
    if (vote !== undefined && vote.seenAtMs === undefined) {
      ledger.markSeen(vote.id, nowMs());
      const expected = vote.value === 'approve' ? 'Approved' : 'Denied';
      if (own?.value !== expected) {
        // Either the request ended without us, or somebody else votes as our user.
        const shown = own?.value ?? 'none';
        ledger.writeAudit(
          'vote-differs',
          { requestId: approval.id, stored: expected, shown, status: approval.status },
          nowMs(),
        );
        log.error(
          { approval: approval.id, stored: expected, shown, status: approval.status },
          'the custodian shows another vote of ours than the ledger; read the audit log, and change the credentials of the approver if nobody explains it',
        );
      }
    } else if (vote === undefined && own?.value === 'Approved') {
      tellOnce(approval.id, 'vote-unknown', { shown: own.value });
      log.error(
        { approval: approval.id },
        'the custodian shows an approval by our user that the ledger does not have: the ledger is older than it, or somebody has our credentials',
      );
    }
    if (approval.status !== 'Pending') {
      ledger.dropWaiting(approval.id, nowMs());
    }
    return true;
  }

  /** Runs one piece of work and keeps its failure from the others. */
  async function attempt<T>(approvalId: string, work: () => Promise<T>): Promise<T | 'failed'> {
    try {
      return await work();
    } catch (error) {
      log.warn(
        { approval: approvalId, error: errorCodeOf(error) ?? nameOf(error) },
        'an approval could not be handled; it is tried again',
      );
      return 'failed';
    }
  }

  return {
    async poll() {
      const pending = await approvals.listPending();
      if (!deps.mayVote()) {
        return { pending: pending.length, voted: 0, waiting: pending.length, failed: 0 };
      }
      const counts = { voted: 0, waiting: 0, failed: 0 };
      // The newest come first in the list; the oldest has waited longest.
      for (const approval of pending.toReversed()) {
        counts[await attempt(approval.id, () => handle(approval))] += 1;
      }
      const ids = new Set(pending.map(({ id }) => id));
      await endMissing(ids);
      return { pending: pending.length, ...counts };
    },
  };

  /** Votes and waits of approvals that are no longer pending. */
  async function endMissing(pending: ReadonlySet<string>): Promise<void> {
    const votes = ledger.listOpenVotes().filter(({ requestId }) => !pending.has(requestId));
    for (const vote of votes) {
      await attempt(vote.requestId, async () => {
        const approval = await approvals.read(vote.requestId);
        if (approval !== undefined) {
          endOwnVote(approval);
        } else {
          ledger.markSeen(vote.id, nowMs());
          ledger.writeAudit('vote-lost', { requestId: vote.requestId }, nowMs());
        }
      });
    }
    for (const { requestId } of ledger.listWaiting()) {
      if (!pending.has(requestId)) {
        ledger.dropWaiting(requestId, nowMs());
      }
    }
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
