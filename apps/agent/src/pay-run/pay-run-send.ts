/**
 * Hands parts of a pay run to the agent, and keeps the ledger true while it does (docs/decisions/0009, §8 and §13).
 *
 * @module
 */
import {
  type DisbursementJob,
  type DisburseRequest,
  errorCodeOf,
  isPoolError,
  PoolError,
  peerCode,
} from '@pool/core';
import type { AgentClient } from '../services/agent-client.ts';
import type { PartName } from './pay-run-key.ts';
import {
  createConflict,
  createCutConflict,
  type PartRecord,
  type PayRunLedger,
  type PayRunName,
  type PayRunRecord,
} from './pay-run-ledger.ts';

type SendDeps = { readonly ledger: PayRunLedger; readonly nowMs: () => number };

/** One attempt at one part. */
type Place = Omit<PartName, 'payRun'>;

/**
 * Hands one part over. What is about to be sent is written down first, so that whoever comes later, after
 * whatever crash, knows that it may have been.
 * @throws what `submit` throws. A refusal leaves the ledger as if nothing had been sent; anything else carries
 * the detail `mayHaveArrived`
 */
export async function sendPart(
  name: PayRunName,
  place: Place,
  submit: () => Promise<DisbursementJob>,
  deps: SendDeps,
): Promise<DisbursementJob> {
  const before = notePart(name, place, 'sending', deps);
  try {
    const job = await submit();
    notePart(name, place, 'accepted', deps);
    return job;
  } catch (error) {
    if (!isRefusal(error)) {
      // 503 comes from the agent itself, which took no job. A conflict is about another agent's job: it may be paid.
      const isKnown =
        isPoolError(error) && (error.status === 503 || error.code === 'idempotency_conflict');
      throw isPoolError(error) && !isKnown ? addDoubt(error) : error;
    }
    // That this try was refused says nothing of an earlier one, whose answer was not seen.
    if (before.sent !== 'sending' || before.attempt !== place.attempt) {
      notePart(name, place, 'no', deps);
    }
    throw error;
  }
}

/** Notes what the agent turned out to know: after a lost ledger, or an answer that was not seen. */
export function noteKnown(name: PayRunName, place: Place, deps: SendDeps): void {
  notePart(name, place, 'accepted', deps);
}

/** @returns what stood there before */
function notePart(
  name: PayRunName,
  { digest, part, count, attempt }: Place,
  sent: PartRecord['sent'],
  { ledger, nowMs }: SendDeps,
): PartRecord {
  let before: PartRecord | undefined;
  ledger.change(name, (current) => {
    if (current === undefined || current.digest !== digest) {
      throw createConflict('another command took this label for another roster in the meantime');
    }
    const known = current.parts[part - 1];
    if (current.parts.length !== count || known === undefined) {
      throw createCutConflict();
    }
    before = known;
    // Another command may be ahead by an attempt, or know already that this one was accepted.
    const isBehind =
      known.attempt > attempt || (known.attempt === attempt && known.sent === 'accepted');
    return isBehind ? current : replacePart(current, part, { attempt, sent, sinceMs: nowMs() });
  });
  return before ?? { attempt, sent, sinceMs: nowMs() };
}

function replacePart(record: PayRunRecord, part: number, changed: PartRecord): PayRunRecord {
  return {
    ...record,
    parts: record.parts.map((known, index) => (index === part - 1 ? changed : known)),
  };
}

/** The agent read the request and took no job. A conflict means that it has one. */
function isRefusal(error: unknown): boolean {
  return (
    isPoolError(error) &&
    error.code !== 'idempotency_conflict' &&
    error.status >= 400 &&
    error.status < 500
  );
}

function addDoubt(error: PoolError): PoolError {
  const { code, message, status, retryable } = error;
  return new PoolError(
    peerCode(code),
    `${message}. The agent may have it all the same: run the same command again, which follows what arrived and pays nobody twice`,
    { status, retryable, details: { mayHaveArrived: true }, cause: error },
  );
}

/**
 * A key binds the roster, so a job that is there under another body was sent for the same people: with the
 * lines in another order, or another rule for the unregistered. It is the one to follow.
 */
export async function submitOrFind(
  client: Pick<AgentClient, 'submit' | 'find'>,
  key: string,
  request: DisburseRequest,
): Promise<DisbursementJob> {
  try {
    return await client.submit(key, request);
  } catch (error) {
    const job = errorCodeOf(error) === 'idempotency_conflict' ? await client.find(key) : undefined;
    if (job !== undefined) {
      return job;
    }
    // The agent has no job of this key: another agent of this employer has used it.
    throw error;
  }
}
