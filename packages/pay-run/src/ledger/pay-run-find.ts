/**
 * What the agent knows about a roster: the job of a part, and the number of parts. Needed when the ledger was lost, was
 * restored from an older copy, or is newer than the payment (docs/decisions/0008).
 *
 * @module
 */
import { batchSizes, type DisbursementJob } from '@pool/core';
import type { AgentClient } from '../ports.ts';
import { computePartKey, computeRoundDigest, formatRound, type PartName } from './pay-run-key.ts';

export type PartJob = {
  readonly key: string;
  readonly attempt: number;
  /** Undefined: the agent has no job for this attempt. */
  readonly job?: DisbursementJob;
};

/** No chain's settings allow more recipients in a call. */
const highestCeiling = Math.max(...batchSizes);

/** Codes of jobs whose key another agent has paid, or may have paid. */
const usedElsewhere: readonly unknown[] = ['settled_elsewhere', 'idempotency_conflict'];

/** What to do about a job whose key was used by another settlement, or may have been. */
export function adviseOnUsedKey(job: DisbursementJob): string {
  return codeOf(job) === 'idempotency_conflict'
    ? 'another agent received this key for another payment: check what was paid before you pay again'
    : 'it was paid, or may still be paid, as the message says: check what was paid before you pay again';
}

/** True for a job whose key has no effect on chain and can have none. */
export function hasNoEffect(job: DisbursementJob): boolean {
  return job.state === 'failed' && !isUsedElsewhere(job);
}

/** True for a job that paid nothing itself and whose key another settlement has paid, or may pay. */
export function isUsedElsewhere(job: DisbursementJob): boolean {
  return usedElsewhere.includes(codeOf(job));
}

function codeOf({ error, result }: DisbursementJob): string | undefined {
  return error?.code ?? result?.batches[0]?.error?.code;
}

/**
 * The newest attempt at a part. A further attempt exists only if the one before had no effect.
 * @param from - the attempt that the ledger knows, or 1
 */
export async function findPart(
  name: Omit<PartName, 'attempt'>,
  from: number,
  client: Pick<AgentClient, 'find'>,
): Promise<PartJob> {
  const ask = async (attempt: number): Promise<PartJob> => {
    const key = computePartKey({ ...name, attempt });
    const job = await client.find(key);
    return { key, attempt, ...(job === undefined ? {} : { job }) };
  };
  let found = await ask(from);
  while (found.job !== undefined && hasNoEffect(found.job)) {
    const next = await ask(found.attempt + 1);
    if (next.job === undefined) {
      break;
    }
    found = next;
  }
  return found;
}

/**
 * True if the agent knows any payment of a label: of its first payment in any number of parts, or a later one. Asks for every key that may
 * exist, because a later payment may be missing while the next one exists.
 * @param largest - recipients that the first payment can have
 */
export async function hasAnyPayment(
  name: Pick<PartName, 'payRun' | 'digest'>,
  largest: number,
  client: Pick<AgentClient, 'find'>,
): Promise<boolean> {
  for (let count = 1; count <= largest; count += 1) {
    if (
      (await client.find(computePartKey({ ...name, part: 1, count, attempt: 1 }))) !== undefined
    ) {
      return true;
    }
  }
  return (await findLaterRound(name, 2, client)) !== undefined;
}

/** How many numbers of later payments are asked for. Only one that was decided and not sent leaves a gap. */
const roundsAsked = 64;

/**
 * A payment to people who were held back that the agent knows. Undefined: it knows none of the next {@link roundsAsked}.
 * @param name - of the pay run itself. @param from - its number
 */
export async function findLaterRound(
  { payRun, digest }: Pick<PartName, 'payRun' | 'digest'>,
  from: number,
  client: Pick<AgentClient, 'find'>,
): Promise<number | undefined> {
  for (let round = from; round < from + roundsAsked; round += 1) {
    if ((await findRoundJob({ payRun, digest }, round, client)) !== undefined) {
      return round;
    }
  }
  return undefined;
}

/** The job of a payment to people who were held back. It has one part. */
export async function findRoundJob(
  { payRun, digest }: Pick<PartName, 'payRun' | 'digest'>,
  round: number,
  client: Pick<AgentClient, 'find'>,
): Promise<DisbursementJob | undefined> {
  const name = { payRun: formatRound(payRun, round), digest: computeRoundDigest(digest, round) };
  return (await findPart({ ...name, part: 1, count: 1 }, 1, client)).job;
}

/**
 * The number of parts into which a roster was cut before, found by trying each possible ceiling. The first part is sent
 * first, so the agent is asked for that one. Undefined: the agent knows no part.
 */
export async function findCut(
  { payRun, digest }: Pick<PartName, 'payRun' | 'digest'>,
  recipients: number,
  client: Pick<AgentClient, 'find'>,
): Promise<number | undefined> {
  for (let ceiling = highestCeiling, tried = 0; ceiling > 0; ceiling -= 1) {
    const count = Math.ceil(recipients / ceiling);
    if (count !== tried) {
      tried = count;
      const key = computePartKey({ payRun, digest, part: 1, count, attempt: 1 });
      if ((await client.find(key)) !== undefined) {
        return count;
      }
    }
  }
  return undefined;
}
