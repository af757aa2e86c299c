/**
 * What the nodes of one chain say about the questions of a decision. Where two nodes are configured, a fact is what both say.
 *
 * @module
 */
import type { PoolReader } from '@pool/contracts';
import { type Hex32, PoolError } from '@pool/core';
import {
  type BatchQuestion,
  deadMarginSeconds,
  type FactQuestions,
  type Facts,
} from '@pool/policy';

/** The part of a pool reader that facts need. */
export type FactReader = Pick<
  PoolReader,
  'fetchFinalBlock' | 'fetchHeadTimestamp' | 'fetchBatchRootOf' | 'fetchIsVoided' | 'fetchOutRootOf'
>;

/** Of the nodes of one pool: the one that everything is read from, and a second one that must say the same. */
export type FactReaders = readonly FactReader[];

/** @throws PoolError `chain_unreachable` if the nodes differ: which of them lies or lags is unknown, so the question stays open */
async function readSame<T extends string>(
  readers: FactReaders,
  read: (reader: FactReader) => Promise<T>,
): Promise<T> {
  const answers = await Promise.all(readers.map(read));
  const [first] = answers;
  if (first === undefined || answers.some((answer) => answer !== first)) {
    throw new PoolError('chain_unreachable', 'the two nodes of the chain say different things');
  }
  return first;
}

export async function readBatch(
  readers: FactReaders,
  { funder, batchNonce }: BatchQuestion,
): Promise<NonNullable<Facts['batch']>> {
  return await readSame(readers, async (reader) => {
    if ((await reader.fetchBatchRootOf(funder, batchNonce, 'latest')) !== undefined) {
      return 'used';
    }
    return (await reader.fetchIsVoided(funder, batchNonce, 'latest')) ? 'voided' : 'open';
  });
}

/**
 * The rule of late landing (protocol §8), at a final block only. A single node is not believed that an approved attempt was voided: the
 * clock must be past its deadline too.
 */
export async function readPreviousAttempt(
  readers: FactReaders,
  { funder, batchNonce, deadline, isApproved }: BatchQuestion,
  nowMs: number,
): Promise<NonNullable<Facts['previousAttempt']>> {
  const isOwnClockPast = deadline !== undefined && isPast(deadline, nowMs);
  return await readSame(readers, async (reader) => {
    const { number, timestampSeconds } = await reader.fetchFinalBlock();
    if ((await reader.fetchBatchRootOf(funder, batchNonce, number)) !== undefined) {
      return 'settled';
    }
    const isVoided = await reader.fetchIsVoided(funder, batchNonce, number);
    if (isVoided && (!isApproved || readers.length > 1)) {
      return 'dead';
    }
    return isOwnClockPast && (isVoided || timestampSeconds > deadline) ? 'dead' : 'alive';
  });
}

/** Used as any of the nodes says: a note that one of them calls spent is not spent again. */
export async function readUsed(
  readers: FactReaders,
  nullifiers: readonly Hex32[],
): Promise<readonly Hex32[]> {
  const used = await Promise.all(readers.map((reader) => readUsedAt(reader, nullifiers, 'latest')));
  return [...new Set(used.flat())];
}

async function readUsedAt(
  reader: FactReader,
  nullifiers: readonly Hex32[],
  block: number | 'latest',
): Promise<readonly Hex32[]> {
  const roots = await Promise.all(
    nullifiers.map((nullifier) => reader.fetchOutRootOf(nullifier, block)),
  );
  return nullifiers.filter((_, index) => roots[index] !== undefined);
}

/** Spends that no node lets land any more. */
export async function readDeadSpends(
  readers: FactReaders,
  spends: FactQuestions['earlierSpends'],
  nowMs: number,
): Promise<readonly Hex32[]> {
  const finals = await Promise.all(
    readers.map(async (reader) => ({ reader, block: await reader.fetchFinalBlock() })),
  );
  const dead: Hex32[] = [];
  for (const { manifestDigest, deadline, nullifiers } of spends) {
    const isOver =
      isPast(deadline, nowMs) && finals.every(({ block }) => block.timestampSeconds > deadline);
    const used = isOver
      ? await Promise.all(
          finals.map(({ reader, block }) => readUsedAt(reader, nullifiers, block.number)),
        )
      : [];
    if (isOver && used.flat().length === 0) {
      dead.push(manifestDigest);
    }
  }
  return dead;
}

function isPast(deadline: number, nowMs: number): boolean {
  return nowMs > 1000 * (deadline + deadMarginSeconds);
}
