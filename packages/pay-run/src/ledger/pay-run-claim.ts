/**
 * Binds a label to one roster before anything is sent (docs/decisions/0008). Without it, adding one line to a roster
 * that was paid and running the same command again would pay everybody twice.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { AgentClient } from '../ports.ts';
import { findCut, findPart, hasNoEffect } from './pay-run-find.ts';
import { computePayRunDigest, type PayRun } from './pay-run-key.ts';
import {
  createConflict,
  createCutConflict,
  type PartRecord,
  type PayRunLedger,
  type PayRunName,
  type PayRunRecord,
} from './pay-run-ledger.ts';

/** After this time, a request whose answer was not seen can no longer become a job. */
const unseenAnswerMs = 10 * 60_000;

export type ClaimDeps = {
  readonly ledger: PayRunLedger;
  readonly client: Pick<AgentClient, 'find'>;
  /** The clock of the ledger. */
  readonly nowMs: () => number | Promise<number>;
};

/**
 * Something may have been sent under the label: a part, or a payment to people who were held back; or one of these was dropped. The number
 * of parts, and who is in the first payment, cannot change any more.
 */
export function isFixed(record: PayRunRecord): boolean {
  return record.parts.some(isSent) || hasDecision(record);
}

/** A later payment was decided, or a person dropped. Another roster under the label would forget it. */
function hasDecision({ invited }: PayRunRecord): boolean {
  return (
    invited !== undefined &&
    (invited.rounds > 1 || invited.payees.some(({ droppedAtMs }) => droppedAtMs !== undefined))
  );
}

/** The record of this roster if it is fixed ({@link isFixed}). */
export function findSent(
  record: PayRunRecord | undefined,
  digest: string,
): PayRunRecord | undefined {
  return record?.digest === digest && isFixed(record) ? record : undefined;
}

/** What ledger and agent know about a roster under its label. */
export type KnownPayRun = {
  readonly digest: string;
  /** Undefined: the ledger knows of no part that was sent. */
  readonly sent: PayRunRecord | undefined;
  /** Number of parts. Undefined: not chosen yet. */
  readonly count: number | undefined;
};

/** @throws PoolError `pay_run_conflict` */
export async function findPayRun(plan: PayRun, deps: ClaimDeps): Promise<KnownPayRun> {
  const digest = computePayRunDigest(plan);
  const seen = await deps.ledger.read(plan);
  await assertFree(plan, seen, digest, deps);
  const sent = findSent(seen, digest);
  const { payRun, entries } = plan;
  const count =
    sent?.parts.length ?? (await findCut({ payRun, digest }, entries.length, deps.client));
  return { digest, sent, count };
}

/**
 * A job that was accepted and is no longer known may have been paid. The same key cannot be paid twice while employer,
 * pool and funder are the same. Only the operator knows whether they are, so the command stops.
 * @param lost - the parts whose jobs are missing. @param isLater - of a payment to people who were held back, which has no retry
 * @throws PoolError `pay_run_job_lost`
 */
export function assertNoneLost(lost: readonly number[], isLater = false): void {
  if (lost.length > 0) {
    throw new PoolError(
      'pay_run_job_lost',
      `this run submitted nothing: the agent had accepted part ${lost.join(', ')} of this pay run and no longer knows it, so it may have been paid. Start the agent with the job store and for the employer it had then. ${isLater ? 'If that store is lost, find out who was paid, and pay the others under a new label' : `If that store is lost, but employer, pool and funder are the same: run with --split ${lost.map((part) => `--retry ${part}`).join(' ')}, which sends it under the same key, and what was paid is not paid again`}`,
    );
  }
}

/**
 * The record of this roster under this label.
 * @param count - number of parts, if it is not chosen yet
 * @throws PoolError `pay_run_conflict`: something was, or may have been, paid to another roster under it
 */
export async function claimPayRun(
  name: PayRunName,
  { digest, count }: { readonly digest: string; readonly count: number },
  deps: ClaimDeps,
): Promise<PayRunRecord> {
  const seen = await deps.ledger.read(name);
  await assertFree(name, seen, digest, deps);
  return await deps.ledger.change(name, (current) => {
    if (current !== undefined && current.digest === digest) {
      if (current.parts.length === count) {
        return current;
      }
      if (isFixed(current)) {
        throw createCutConflict();
      }
      return createRecord(digest, count);
    }
    // Only the record that was checked may be replaced.
    if (JSON.stringify(current) !== JSON.stringify(seen)) {
      throw createConflict(
        'another command is paying another roster under this label at this moment',
      );
    }
    return createRecord(digest, count);
  });
}

/** @throws PoolError `pay_run_conflict`: something was, or may have been, paid under this label to another roster */
async function assertFree(
  name: PayRunName,
  record: PayRunRecord | undefined,
  digest: string,
  deps: Pick<ClaimDeps, 'client' | 'nowMs'>,
): Promise<void> {
  if (record === undefined || record.digest === digest) {
    return;
  }
  const holder = await findHolder(name, record, deps);
  if (holder !== undefined) {
    throw createConflict(
      holder === 'unseen'
        ? 'this label was used for another roster a moment ago and the answer was not seen; run again in ten minutes'
        : 'this label was used for another roster, which was paid or may have been; paying this one under it could pay people twice. Use a new label for the new payment, with only the people who are still to be paid',
    );
  }
}

/**
 * Why a label cannot be used again: a part of its record was paid or may have been, or was sent and the answer was not
 * seen. Undefined: nothing can have been paid.
 */
export async function findHolder(
  name: PayRunName,
  record: PayRunRecord,
  { client, nowMs }: Pick<ClaimDeps, 'client' | 'nowMs'>,
): Promise<'used' | 'unseen' | undefined> {
  if (hasDecision(record)) {
    return 'used';
  }
  const count = record.parts.length;
  for (const [index, part] of record.parts.entries()) {
    const place = { payRun: name.payRun, digest: record.digest, part: index + 1, count };
    const { job } = await findPart(place, part.attempt, client);
    const isFree = job === undefined ? isUnknown(part, await nowMs()) : hasNoEffect(job);
    if (!isFree) {
      return part.sent === 'sending' && job === undefined ? 'unseen' : 'used';
    }
  }
  return undefined;
}

/**
 * For a dry run, which asks no agent: the message about a label that was used for the same roster.
 * @throws PoolError `pay_run_conflict`
 */
export function describeUse(
  record: PayRunRecord | undefined,
  digest: string,
  isSplit: boolean,
): string | undefined {
  if (record === undefined || !isFixed(record)) {
    return undefined;
  }
  if (record.digest !== digest) {
    throw createConflict(
      'this label was used for another roster: unless all payments of that roster failed, this one will be refused. Use a new label for the new payment',
    );
  }
  if (!isSplit) {
    assertWhole(record.parts.length);
  }
  return record.parts.every(isSent)
    ? 'this roster was submitted before under this label: running it shows the outcome and pays nobody again'
    : undefined;
}

/** @throws PoolError `pay_run_conflict`: it was cut into parts */
export function assertWhole(count: number): void {
  if (count > 1) {
    throw createConflict(
      'this pay run was started with --split; run it again with --split, because people would be paid twice without it',
    );
  }
}

function createRecord(digest: string, count: number): PayRunRecord {
  return {
    digest,
    parts: Array.from({ length: count }, () => ({ attempt: 1, sent: 'no' as const, sinceMs: 0 })),
  };
}

export function isSent({ sent }: PartRecord): boolean {
  return sent !== 'no';
}

/** An accepted part that the agent does not know means a lost job store. It may have been paid. */
function isUnknown({ sent, sinceMs }: PartRecord, nowMs: number): boolean {
  return sent === 'no' || (sent === 'sending' && nowMs - sinceMs > unseenAnswerMs);
}
