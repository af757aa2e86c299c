/**
 * Sends parts of a pay run to the agent, and keeps the ledger up to date (docs/decisions/0008).
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
import type { AgentClient } from '../ports.ts';
import type { ClaimDeps } from './pay-run-claim.ts';
import type { PartName } from './pay-run-key.ts';
import {
  createConflict,
  createCutConflict,
  type PartRecord,
  type PayRunName,
  type PayRunRecord,
} from './pay-run-ledger.ts';

type SendDeps = Pick<ClaimDeps, 'ledger' | 'nowMs'>;

/** One attempt at one part. */
type Place = Omit<PartName, 'payRun'>;

/**
 * Sends one part. The ledger is written first, so that a later command knows after any crash that the part may have been
 * sent.
 * @throws the errors of `submit`. A refusal leaves the ledger as if nothing had been sent. Any other error has the detail
 *   `mayHaveArrived`
 */
export async function sendPart(
  name: PayRunName,
  place: Place,
  submit: () => Promise<DisbursementJob>,
  deps: SendDeps,
): Promise<DisbursementJob> {
  const before = await recordPart(name, place, 'sending', deps);
  let job: DisbursementJob;
  try {
    job = await submit();
  } catch (error) {
    if (!isRefusal(error)) {
      // 503 comes from the agent itself, which accepted no job. A conflict concerns another agent's job, which may be paid.
      const isKnown =
        isPoolError(error) && (error.status === 503 || error.code === 'idempotency_conflict');
      throw isPoolError(error) && !isKnown ? addDoubt(error) : error;
    }
    // A refusal of this request says nothing about an earlier one whose answer was not seen.
    if (before.sent !== 'sending' || before.attempt !== place.attempt) {
      await recordPart(name, place, 'no', deps);
    }
    throw error;
  }
  try {
    await recordPart(name, place, 'accepted', deps);
  } catch (error) {
    throw isPoolError(error) ? addDoubt(error) : error;
  }
  return job;
}

/** Records a job that the agent has and the ledger did not know, because it was lost or an answer was not seen. */
export async function recordKnownPart(
  name: PayRunName,
  place: Place,
  deps: SendDeps,
): Promise<void> {
  await recordPart(name, place, 'accepted', deps);
}

/** @returns the record of the part before the change */
async function recordPart(
  name: PayRunName,
  { digest, part, count, attempt }: Place,
  sent: PartRecord['sent'],
  { ledger, nowMs }: SendDeps,
): Promise<PartRecord> {
  const sinceMs = await nowMs();
  let before: PartRecord | undefined;
  await ledger.change(name, (current) => {
    if (current === undefined || current.digest !== digest) {
      throw createConflict('another command took this label for another roster in the meantime');
    }
    const known = current.parts[part - 1];
    if (current.parts.length !== count || known === undefined) {
      throw createCutConflict();
    }
    before = known;
    // Another command may have recorded a later attempt, or that this one was accepted.
    const isBehind =
      known.attempt > attempt || (known.attempt === attempt && known.sent === 'accepted');
    return isBehind ? current : replacePart(current, part, { attempt, sent, sinceMs });
  });
  return before ?? { attempt, sent, sinceMs };
}

function replacePart(record: PayRunRecord, part: number, changed: PartRecord): PayRunRecord {
  return {
    ...record,
    parts: record.parts.map((known, index) => (index === part - 1 ? changed : known)),
  };
}

/** The agent read the request and accepted no job. A conflict means that it has one. */
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
    `${message}. The agent may have received it nevertheless: run the same command again, which follows what arrived and pays nobody twice`,
    { status, retryable, details: { mayHaveArrived: true }, cause: error },
  );
}

/**
 * A key binds the roster, so a job with another body under the same key pays the same recipients: with the lines in another
 * order, or with another rule for the unregistered. The command follows that job.
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
    // This agent has no job with the key, so another agent of the employer has used it.
    throw error;
  }
}
