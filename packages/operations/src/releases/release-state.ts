/**
 * What the release policy asks of a prepared batch, and how far its release is: read from the log each time, so that a restart, another
 * agent on the same store and a command see the same.
 *
 * @module
 */
import {
  type BatchRelease,
  countBatchReleases,
  findReleaseNeed,
  parseBatchReleaseText,
  type ReleasedBatch,
  type ReleaseEntry,
  type ReleaseNeed,
  type ReleasePolicy,
  type ReleaseState,
} from '@pool/policy';
import type { ReleaseLog } from './release-log.ts';

/** The policy of this process, and the log that it writes. */
export type ReleaseDeps = { readonly policy: ReleasePolicy; readonly log: ReleaseLog };

/** What a batch pays, as this agent built it. */
export type PaidBatch = ReleasedBatch & {
  readonly chain: string;
  readonly symbol: string;
  readonly decimals: number;
};

export type BatchStanding =
  | { readonly kind: 'refused'; readonly message: string }
  | (ReleaseState & {
      readonly kind: 'judged';
      readonly need: Extract<ReleaseNeed, { kind: 'people' }>;
      /** The credential with which it was prepared. */
      readonly preparedBy: string;
      /** A release counts until then, and the batch waits until then. Milliseconds since the epoch. */
      readonly untilMs: number;
      /** The release was stored under this policy. */
      readonly isStored: boolean;
    });

const dayMs = 86_400_000;

/** How far the release of a batch is. @param prepared - its entry of the log */
export async function readStanding(
  { policy, log }: ReleaseDeps,
  prepared: ReleaseEntry,
  batch: PaidBatch,
  nowMs: number,
): Promise<BatchStanding> {
  const { chain, symbol: token, decimals, manifestDigest } = batch;
  const amount = BigInt(batch.total) + (await sumBefore(log, prepared));
  const preparedBy = prepared.by;
  const need = findReleaseNeed(policy, { chain, token, decimals, preparedBy, amount });
  if (need.kind === 'refused') {
    return need;
  }
  const entries = await log.listOf(batch.key);
  const state = countBatchReleases(entries.flatMap(readWord), batch, policy, need, nowMs);
  return {
    ...state,
    ...{ kind: 'judged', need, preparedBy },
    untilMs: Date.parse(prepared.at) + policy.waitHours * 3_600_000,
    isStored: entries.some(
      (entry) =>
        entry.event === 'released' &&
        entry.manifestDigest === manifestDigest &&
        entry.policy === policy.sha256,
    ),
  };
}

/** Base units of the token that were prepared in the 24 hours before and have not failed: many small batches count as one large one. */
async function sumBefore(log: ReleaseLog, prepared: ReleaseEntry): Promise<bigint> {
  const entries = await log.listSince(Date.parse(prepared.at) - dayMs);
  const unpaid = new Set(
    entries
      .filter(({ event }) => event === 'cancel' || event === 'failed')
      .map(({ manifestDigest }) => manifestDigest),
  );
  return entries
    .filter(
      ({ event, number, chain, token, manifestDigest }) =>
        event === 'prepare' &&
        number < prepared.number &&
        chain === prepared.chain &&
        token === prepared.token &&
        !unpaid.has(manifestDigest),
    )
    .reduce((sum, { total }) => sum + BigInt(total), 0n);
}

/** The signed word in an entry. */
function readWord({ statement, publicKey, signature }: ReleaseEntry): readonly BatchRelease[] {
  const content = statement === undefined ? undefined : parseBatchReleaseText(statement);
  return content === undefined || publicKey === undefined || signature === undefined
    ? []
    : [{ ...content, publicKey, signature }];
}

/** What the log says of a batch in each of its entries. */
export function describeBatch(
  batch: Pick<PaidBatch, 'key' | 'manifestDigest' | 'chain' | 'symbol' | 'total' | 'count'>,
  policy: ReleasePolicy,
) {
  const { key, manifestDigest, chain, symbol: token, total, count } = batch;
  return { key, manifestDigest, chain, token, total, count, policy: policy.sha256 };
}
