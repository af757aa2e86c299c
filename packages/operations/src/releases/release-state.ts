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
  return sumPrepared(entries, prepared, prepared.number);
}

/**
 * Base units of a token that were prepared and have not failed.
 * @param end - the number of an entry: only what was prepared before it
 */
function sumPrepared(
  entries: readonly ReleaseEntry[],
  unit: Pick<ReleaseEntry, 'chain' | 'token'>,
  end = Number.POSITIVE_INFINITY,
): bigint {
  const unpaid = new Set(
    entries
      .filter(({ event }) => event === 'cancel' || event === 'failed')
      .map(({ manifestDigest }) => manifestDigest),
  );
  return entries
    .filter(
      ({ event, number, chain, token, manifestDigest }) =>
        event === 'prepare' &&
        number < end &&
        chain === unit.chain &&
        token === unit.token &&
        !unpaid.has(manifestDigest),
    )
    .reduce((sum, { total }) => sum + BigInt(total), 0n);
}

/** A payment that nobody has prepared yet. */
export type PlannedPayment = {
  readonly chain: string;
  /** Symbol. */
  readonly token: string;
  readonly decimals: number;
  /** Base units. */
  readonly total: bigint;
  /** The credential that would prepare it. */
  readonly preparedBy: string;
};

/** What the policy would ask of a payment now. @param log - undefined: nothing was ever prepared */
export async function forecastRelease(
  policy: ReleasePolicy,
  log: Pick<ReleaseLog, 'listSince'> | undefined,
  { total, ...payment }: PlannedPayment,
  nowMs: number,
): Promise<{ readonly need: ReleaseNeed; readonly amount: bigint }> {
  const today = (await log?.listSince(nowMs - dayMs)) ?? [];
  const amount = total + sumPrepared(today, payment);
  return { need: findReleaseNeed(policy, { ...payment, amount }), amount };
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
