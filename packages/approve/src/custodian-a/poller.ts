/**
 * The transport of custodian A: it looks for approvals that wait, has each judged, and votes. A vote is stored before it is sent, read
 * back, and sent again until it stands; each user votes once, so a vote that stands is never sent again.
 *
 * @module
 */

import { errorCodeOf, isPoolError } from '@pool/core';
import { decisionReasons, type Vote } from '@pool/policy';
import { nameError } from '../config/gate-home.ts';
import { endVote } from '../custodian/end-vote.ts';
import type { Judgement, VotingDeps } from '../judge/judge.ts';
import type { Approvals } from './approvals.ts';
import { type Approval, type ListedApproval, readActivity } from './wire.ts';

export type PollerDeps = VotingDeps & {
  readonly approvals: Approvals;
  /** The approver's own user. */
  readonly userId: string;
  /** The custodian shows an approval of ours that the ledger lacks: nothing may be voted before the two were compared. */
  readonly onUnknownVote: () => void;
};

/** An approval that waits. `listed` undefined: it is read again when its turn comes, so that a long list does not fill the memory. */
type Waiting = { readonly id: string; readonly listed: ListedApproval | undefined };
const maxHeld = 500;

/** As the custodian's own lists have it. */
const pageSize = 20;

type Refusal = { readonly pauseMs: number; readonly untilMs: number };
const minPauseMs = 60_000;
const maxPauseMs = 600_000;

export function createPoller(deps: PollerDeps) {
  const { approvals, ledger, userId, nowMs, log, fault } = deps;
  /** Events without a place in the ledger, each written once. By approval. */
  const told = new Map<string, ReadonlySet<string>>();
  /** Votes that the custodian refused, by approval. */
  const refused = new Map<string, Refusal>();

  /** @returns whether it was not told before */
  function tellOnce(
    approvalId: string,
    event: string,
    data: Readonly<Record<string, unknown>>,
  ): boolean {
    const events = told.get(approvalId) ?? new Set();
    if (events.has(event)) {
      return false;
    }
    // If this fails, the event is not told, and the next look writes it before it answers.
    ledger.writeAudit(event, { requestId: approvalId, ...data }, nowMs());
    told.set(approvalId, new Set([...events, event]));
    return true;
  }

  /** An approval whose vote is refused, for example because the gate is no approver of it, is tried again less and less often. */
  async function vote(...[id, value, reason]: Parameters<Approvals['vote']>): Promise<void> {
    try {
      await approvals.vote(id, value, reason);
      refused.delete(id);
    } catch (error) {
      if (errorCodeOf(error) === 'custodian_refused') {
        const pauseMs = Math.min(2 * (refused.get(id)?.pauseMs ?? minPauseMs / 2), maxPauseMs);
        refused.set(id, { pauseMs, untilMs: nowMs() + pauseMs });
      }
      throw error;
    }
  }

  async function judge({ id, initiatorId = '', activity }: Approval): Promise<Judgement> {
    const { walletId: wallet, reading } = readActivity(activity);
    const origin = { kind: 'custodian', wallet, initiator: initiatorId } as const;
    return reading.kind === 'foreign'
      ? reading
      : await deps.judge.judge({ requestId: id, origin, preimage: reading });
  }

  /** What waits, oldest first: the newest come first in the list, and the oldest has waited longest. */
  async function listPending(): Promise<readonly Waiting[]> {
    const found = new Map<string, Waiting>();
    for await (const page of approvals.pages({ status: 'Pending' }, pageSize)) {
      for (const listed of page) {
        const id = listed.kind === 'approval' ? listed.approval.id : listed.id;
        if (id === undefined) {
          log.warn({}, 'the list of the custodian has an item without an id, which is passed over');
          continue;
        }
        found.set(id, { id, listed: found.size < maxHeld ? listed : undefined });
      }
    }
    return [...found.values()].toReversed();
  }

  async function handleWaiting({ id, listed }: Waiting): Promise<'voted' | 'waiting'> {
    const shown = listed ?? (await approvals.read(id));
    if (shown === undefined) {
      return 'waiting';
    }
    if (shown.kind === 'approval') {
      return await handle(shown.approval);
    }
    // Nothing can be said about a vote that we gave before it became unreadable.
    return ledger.findVote(id) === undefined
      ? await handle({ id, status: 'Pending', decisions: [] })
      : 'waiting';
  }

  /** @returns whether a vote of ours stands */
  async function handle(approval: Approval): Promise<'voted' | 'waiting'> {
    if (endOwnVote(approval)) {
      return 'voted';
    }
    // The policy may have been read again, or an approval of somebody else found, since the list was read.
    if (!deps.mayVote() || nowMs() < (refused.get(approval.id)?.untilMs ?? 0)) {
      return 'waiting';
    }
    const judgement = await judge(approval);
    switch (judgement.kind) {
      case 'later':
        log.debug({ approval: approval.id, reason: judgement.reason }, 'approval waits');
        return 'waiting';
      case 'dry-run':
        return tellDry(approval.id, judgement.would, judgement.reason);
      case 'foreign': {
        if (deps.isDryRun) {
          return tellDry(approval.id, 'deny', judgement.message);
        }
        if (!deps.mayVote()) {
          return 'waiting';
        }
        tellOnce(approval.id, 'denied-foreign', { message: judgement.message });
        log.warn({ approval: approval.id, reason: judgement.message }, 'approval denied');
        await vote(approval.id, 'Denied', judgement.message);
        deps.onAnswer('deny');
        return 'voted';
      }
      case 'vote':
        fault('vote.after-decide');
        // The vote is stored. It is sent when the gate may vote again.
        if (deps.isDryRun || !deps.mayVote()) {
          return 'waiting';
        }
        await send(judgement.vote);
        return 'voted';
    }
  }

  function tellDry(approvalId: string, would: string, reason: string | undefined): 'waiting' {
    log.info({ approval: approvalId, would, reason: reason ?? null }, 'dry run');
    return 'waiting';
  }

  /** Sends a stored vote, and reads back what stands. */
  async function send({ id, requestId, kind, value, reason }: Vote): Promise<void> {
    fault('vote.before-send');
    const text = reason === undefined ? 'approved' : decisionReasons[reason];
    await vote(requestId, value === 'approve' ? 'Approved' : 'Denied', text);
    ledger.markSent(id, nowMs());
    deps.onAnswer(value);
    fault('vote.after-send');
    const standing = await approvals.read(requestId);
    if (standing?.kind === 'approval') {
      endOwnVote(standing.approval);
    }
    fault('vote.after-read-back');
    log.info({ approval: requestId, kind, vote: value, reason: reason ?? null }, 'voted');
  }

  /** Ends the stored vote of an approval that shows ours, or that is over. @returns whether there is nothing left to do */
  function endOwnVote(approval: Approval): boolean {
    const own = approval.decisions.find((decision) => decision.userId === userId);
    if (own === undefined && approval.status === 'Pending') {
      return false;
    }
    const stored = ledger.findVote(approval.id);
    if (stored !== undefined && stored.seenAtMs === undefined) {
      const expected = stored.value === 'approve' ? 'Approved' : 'Denied';
      // Either the request ended without us, or somebody else votes as our user.
      const difference = {
        data: { stored: expected, shown: own?.value ?? 'none', status: approval.status },
        message:
          'the custodian shows another vote of ours than the ledger; read the audit log, and change the credentials of the approver if nobody explains it',
      };
      endVote(deps, stored, own?.value === expected ? undefined : difference);
    } else if (
      stored === undefined &&
      own?.value === 'Approved' &&
      tellOnce(approval.id, 'vote-unknown', { shown: own.value })
    ) {
      log.error(
        { approval: approval.id },
        'the custodian shows an approval by our user that the ledger does not have: the ledger is older than it, or somebody has our credentials; nothing is voted before the histories were compared',
      );
      deps.onUnknownVote();
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
        {
          approval: approvalId,
          error: nameError(error),
          ...(isPoolError(error) ? { reason: error.message } : {}),
        },
        'an approval could not be handled; it is tried again',
      );
      return 'failed';
    }
  }

  return {
    /** One look at everything. An approval whose vote fails does not stop the others. @throws if the list cannot be read */
    async poll() {
      const pending = await listPending();
      if (!deps.mayVote()) {
        return { pending: pending.length, voted: 0, waiting: pending.length, failed: 0 };
      }
      const counts = { voted: 0, waiting: 0, failed: 0 };
      for (const waiting of pending) {
        counts[await attempt(waiting.id, () => handleWaiting(waiting))] += 1;
      }
      const ids = new Set(pending.map(({ id }) => id));
      await endMissing(ids);
      for (const kept of [told, refused]) {
        for (const id of kept.keys()) {
          if (!ids.has(id)) {
            kept.delete(id);
          }
        }
      }
      return { pending: pending.length, ...counts };
    },
  };

  /** Votes and waits of approvals that are no longer pending. */
  async function endMissing(pending: ReadonlySet<string>): Promise<void> {
    const votes = ledger.listOpenVotes().filter(({ requestId }) => !pending.has(requestId));
    for (const vote of votes) {
      await attempt(vote.requestId, async () => {
        const approval = await approvals.read(vote.requestId);
        if (approval?.kind === 'approval') {
          endOwnVote(approval.approval);
        } else if (approval === undefined) {
          endVote(deps, vote, 'lost');
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
