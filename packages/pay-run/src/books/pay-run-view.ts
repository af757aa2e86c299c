/**
 * What ledger and agent know about a pay run: the jobs of its parts, and the people who are not in any.
 *
 * @module
 */
import type { DisbursementJob } from '@pool/core';
import { holdBack, isHeld, nameOfRound } from '../ledger/invited-record.ts';
import { findPart, hasNoEffect } from '../ledger/pay-run-find.ts';
import type { InvitedPayee, NamedPayRun } from '../ledger/pay-run-ledger.ts';
import type { AgentClient } from '../ports.ts';
import { stateOf } from '../report/split-report.ts';

type PayRunPart = {
  readonly part: number;
  readonly of: number;
  readonly key: string;
  readonly attempt: number;
  readonly job: DisbursementJob | undefined;
  /** It was sent, and the agent does not say what became of it. */
  readonly isUnseen: boolean;
};

export type PayRunView = NamedPayRun & { readonly parts: readonly PayRunPart[] };

/** What the agent knows about each part. */
export async function inspectPayRun(
  found: NamedPayRun,
  client: Pick<AgentClient, 'find'>,
): Promise<PayRunView> {
  const { payRun, record } = found;
  const count = record.parts.length;
  const parts: PayRunPart[] = [];
  for (const [index, known] of record.parts.entries()) {
    const name = { payRun, digest: record.digest, part: index + 1, count };
    const { key, attempt, job } = await findPart(name, known.attempt, client);
    const isUnseen = job === undefined && known.sent !== 'no';
    parts.push({ part: index + 1, of: count, key, attempt, job, isUnseen });
  }
  return { ...found, parts };
}

/** Something of it was or may be paid. */
export function isLive({ parts }: PayRunView): boolean {
  return parts.some(({ job, isUnseen }) => isUnseen || (job !== undefined && !hasNoEffect(job)));
}

/** With the people of later payments of which nothing was or can be paid. @param views - of these payments too */
export function listUnpaid(
  view: PayRunView,
  views: readonly PayRunView[],
): { readonly held: readonly InvitedPayee[]; readonly dropped: readonly InvitedPayee[] } {
  const { invited } = view.record;
  const live = new Set(
    views.flatMap((one) =>
      one.chain === view.chain && one.token === view.token && isLive(one) ? [one.payRun] : [],
    ),
  );
  const shown = invited && holdBack(invited, (round) => live.has(nameOfRound(view, round).payRun));
  const payees = shown?.payees ?? [];
  return {
    held: payees.filter(isHeld),
    dropped: payees.filter(({ droppedAtMs }) => droppedAtMs !== undefined),
  };
}

export function nameState(job: DisbursementJob | undefined, isUnseen: boolean): string {
  return stateOf(job, isUnseen).replace('-', ' ');
}
