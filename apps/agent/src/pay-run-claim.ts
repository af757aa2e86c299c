/**
 * Binds a label to one roster before anything is sent, and keeps the ledger true while parts are sent
 * (docs/decisions/0009). The danger it is here for: one line added to a roster that was paid, and the same
 * command run again.
 *
 * @module
 */
import {
  type DisbursementJob,
  type DisburseRequest,
  errorCodeOf,
  isPoolError,
  PoolError,
} from '@pool/core';
import type { AgentClient } from './agent-client.ts';
import { computePartKey } from './pay-run-key.ts';
import type { PartRecord, PayRunLedger, PayRunName, PayRunRecord } from './pay-run-ledger.ts';

/** After this long no request whose answer was not seen can still turn into a job. */
const unseenAnswerMs = 10 * 60_000;

export type ClaimDeps = {
  readonly ledger: PayRunLedger;
  readonly client: Pick<AgentClient, 'find'>;
  readonly nowMs: () => number;
};

/** What the ledger holds of this roster, if it has been sent anywhere: then the cut stands. */
export function findSent(
  record: PayRunRecord | undefined,
  digest: string,
): PayRunRecord | undefined {
  return record?.digest === digest && record.parts.some(isSent) ? record : undefined;
}

/** True for a job that has had, and can have, no effect on chain. */
export function hasNoEffect(job: DisbursementJob): boolean {
  return job.state === 'failed' && job.error?.code !== 'settled_elsewhere';
}

/**
 * The record of this roster under this label.
 * @param count - parts, if they are still to be chosen
 * @throws PoolError `pay_run_conflict`: something was, or may have been, paid to another roster under it
 */
export async function claimPayRun(
  name: PayRunName,
  { digest, count }: { readonly digest: string; readonly count: number },
  deps: ClaimDeps,
): Promise<PayRunRecord> {
  const seen = deps.ledger.read(name);
  await assertFree(name, seen, digest, deps);
  return deps.ledger.change(name, (current) => {
    if (current !== undefined && current.digest === digest) {
      const isCutElse = current.parts.length !== count;
      return isCutElse && !current.parts.some(isSent) ? createRecord(digest, count) : current;
    }
    // Only what was looked at may be replaced.
    if (JSON.stringify(current) !== JSON.stringify(seen)) {
      throw conflict('another command is paying another roster under this label at this moment');
    }
    return createRecord(digest, count);
  });
}

/** @throws PoolError `pay_run_conflict` */
export async function assertFree(
  name: PayRunName,
  record: PayRunRecord | undefined,
  digest: string,
  { client, nowMs }: Pick<ClaimDeps, 'client' | 'nowMs'>,
): Promise<void> {
  if (record === undefined || record.digest === digest) {
    return;
  }
  for (const [index, part] of record.parts.entries()) {
    const job = await client.find(keyOf(name, record, index + 1));
    const isFree = job === undefined ? isUnknown(part, nowMs()) : hasNoEffect(job);
    if (!isFree) {
      throw conflict(
        part.sent === 'sending' && job === undefined
          ? 'this label was used for another roster a moment ago and the answer was not seen; run again in ten minutes'
          : 'this label was used for another roster, which was paid or may have been; paying this one under it could pay people twice. Give the new payment a label of its own, with only the people who are still to be paid',
      );
    }
  }
}

/**
 * For a dry run, which asks no agent.
 * @throws PoolError `pay_run_conflict`
 */
export function assertOwnLabel(record: PayRunRecord | undefined, digest: string): void {
  if (record !== undefined && record.digest !== digest && record.parts.some(isSent)) {
    throw conflict(
      'this label was used for another roster: unless all of that failed, this one will be refused. Give the new payment a label of its own',
    );
  }
}

/** The current key of a part. */
function keyOf(name: PayRunName, record: PayRunRecord, part: number): string {
  const attempt = record.parts[part - 1]?.attempt ?? 1;
  const { digest } = record;
  return computePartKey({
    payRun: name.payRun,
    digest,
    part,
    count: record.parts.length,
    attempt,
  });
}

/**
 * Hands one part over. What is about to be sent is written down first, so that whoever comes later, after
 * whatever crash, knows that it may have been.
 * @throws what `submit` throws; a refusal leaves the ledger as if nothing had been sent
 */
export async function sendPart(
  name: PayRunName,
  place: { readonly digest: string; readonly part: number; readonly attempt: number },
  submit: () => Promise<DisbursementJob>,
  { ledger, nowMs }: Pick<ClaimDeps, 'ledger' | 'nowMs'>,
): Promise<DisbursementJob> {
  const { part, attempt, digest } = place;
  const note = (sent: PartRecord['sent']): void => {
    ledger.change(name, (current) => {
      const known = current?.parts[part - 1];
      if (current === undefined || current.digest !== digest || known === undefined) {
        throw conflict('another command took this label for another roster in the meantime');
      }
      // Another command may be ahead by an attempt, or know already that this one was accepted.
      const isBehind =
        known.attempt > attempt || (known.attempt === attempt && known.sent === 'accepted');
      return isBehind ? current : replacePart(current, part, { attempt, sent, sinceMs: nowMs() });
    });
  };
  note('sending');
  try {
    const job = await submit();
    note('accepted');
    return job;
  } catch (error) {
    if (isRefusal(error)) {
      note('no');
    }
    throw error;
  }
}

/** Notes what the agent turned out to know: after a lost ledger, or an answer that was not seen. */
export function noteKnown(
  name: PayRunName,
  place: { readonly digest: string; readonly part: number; readonly attempt: number },
  { ledger, nowMs }: Pick<ClaimDeps, 'ledger' | 'nowMs'>,
): void {
  const { digest, part, attempt } = place;
  ledger.change(name, (current) => {
    const known = current?.parts[part - 1];
    if (current === undefined || current.digest !== digest || known === undefined) {
      throw conflict('another command took this label for another roster in the meantime');
    }
    return known.attempt > attempt || (known.attempt === attempt && known.sent === 'accepted')
      ? current
      : replacePart(current, part, { attempt, sent: 'accepted', sinceMs: nowMs() });
  });
}

function replacePart(record: PayRunRecord, part: number, changed: PartRecord): PayRunRecord {
  return {
    ...record,
    parts: record.parts.map((known, index) => (index === part - 1 ? changed : known)),
  };
}

function createRecord(digest: string, count: number): PayRunRecord {
  return {
    digest,
    parts: Array.from({ length: count }, () => ({ attempt: 1, sent: 'no' as const, sinceMs: 0 })),
  };
}

function isSent({ sent }: PartRecord): boolean {
  return sent !== 'no';
}

/** An accepted part that the agent does not know is a lost job store, not a payment that never was. */
function isUnknown({ sent, sinceMs }: PartRecord, nowMs: number): boolean {
  return sent === 'no' || (sent === 'sending' && nowMs - sinceMs > unseenAnswerMs);
}

/** The agent read the request and took no job. A conflict means that it has one. */
function isRefusal(error: unknown): boolean {
  return (
    isPoolError(error) &&
    error.code !== 'idempotency_conflict' &&
    error.code !== 'agent_unreachable' &&
    error.code !== 'agent_invalid_response' &&
    error.status >= 400 &&
    error.status < 500
  );
}

function conflict(message: string): PoolError {
  return new PoolError('pay_run_conflict', message, { status: 409 });
}

/**
 * A key binds the roster, so a job that is there under another body was sent for the same people: with the
 * lines in another order, or another rule for the unregistered. It is the one to follow.
 */
export async function submitOrFind(
  client: Pick<AgentClient, 'submit' | 'job'>,
  key: string,
  request: DisburseRequest,
): Promise<DisbursementJob> {
  try {
    return await client.submit(key, request);
  } catch (error) {
    if (errorCodeOf(error) === 'idempotency_conflict') {
      return client.job(key);
    }
    throw error;
  }
}
