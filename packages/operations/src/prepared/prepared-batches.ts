/**
 * The batches that wait for people, with what each pays; and the word of a person about one of them. For commands and the console.
 *
 * @module
 */
import {
  computeManifestDigest,
  type EvmChainSettings,
  type FundManifest,
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import {
  type BatchRelease,
  computeBatchReleaseText,
  type ReleaseEntry,
  verifyBatchRelease,
} from '@pool/policy';
import {
  type BatchStanding,
  describeBatch,
  type PaidBatch,
  type ReleaseDeps,
  readStanding,
} from '../releases/release-state.ts';
import { deserializeManifest, deserializeRecord, manifestName } from '../run/job/record.ts';

/** Confidential: it holds recipients and amounts. */
export type PreparedBatchView = {
  readonly batch: PaidBatch;
  readonly manifest: FundManifest;
  readonly prepared: ReleaseEntry;
  readonly standing: BatchStanding;
};

type Reading = {
  readonly store: Pick<JobStore, 'listNames' | 'get' | 'getValue'>;
  readonly releases: ReleaseDeps;
  readonly chains: Readonly<Record<string, Pick<EvmChainSettings, 'tokens'>>>;
  readonly nowMs: number;
};

/** Every batch that is prepared and has not ended, oldest first, whether it still waits or was released. */
export async function listPreparedBatches(reading: Reading): Promise<readonly PreparedBatchView[]> {
  const { releases, store, nowMs } = reading;
  const entries = await releases.log.listSince();
  const ended = new Set(
    entries
      .filter(({ event }) => event === 'paid' || event === 'failed' || event === 'cancel')
      .map(({ manifestDigest }) => manifestDigest),
  );
  const open = entries.filter(
    ({ event, manifestDigest }) => event === 'prepare' && !ended.has(manifestDigest),
  );
  const names = new Map((await store.listNames()).map((name) => [name.key, name]));
  const views: PreparedBatchView[] = [];
  for (const prepared of open) {
    const name = names.get(prepared.key);
    const read = name && (await readBatch(reading, name.scope, prepared));
    if (read !== undefined) {
      const standing = await readStanding(releases, prepared, read.batch, nowMs);
      views.push({ ...read, prepared, standing });
    }
  }
  return views;
}

/** From the job store, and not from the log: it is what the agent signs. */
async function readBatch(
  { store, chains }: Reading,
  scope: string,
  { key, manifestDigest }: ReleaseEntry,
): Promise<Pick<PreparedBatchView, 'batch' | 'manifest'> | undefined> {
  const [job, text] = [await store.get(scope, key), await store.getValue(scope, key, manifestName)];
  if (job === undefined || text === undefined) {
    return undefined;
  }
  const { manifest } = deserializeManifest(text);
  const { tokenSymbol: symbol } = deserializeRecord(job.payload);
  const decimals = chains[manifest.chain]?.tokens[symbol]?.decimals;
  return decimals === undefined || computeManifestDigest(manifest) !== manifestDigest
    ? undefined
    : { manifest, batch: describeManifest(manifest, { symbol, decimals }) };
}

/** What a manifest pays. */
export function describeManifest(
  manifest: FundManifest,
  unit: { readonly symbol: string; readonly decimals: number },
): PaidBatch {
  const total = manifest.recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return {
    manifestDigest: computeManifestDigest(manifest),
    total: total.toString(),
    token: parseEvmAddress(manifest.token),
    key: manifest.jobKey,
    count: manifest.recipients.length,
    chain: manifest.chain,
    ...unit,
  };
}

/**
 * The person whose word it is.
 * @throws PoolError `invalid_release` if it does not count
 */
export function assertCounts(
  { policy }: Pick<ReleaseDeps, 'policy'>,
  { batch, standing }: Pick<PreparedBatchView, 'batch' | 'standing'>,
  word: BatchRelease,
  nowMs: number,
): string {
  const verdict =
    standing.kind === 'refused'
      ? standing
      : verifyBatchRelease(word, batch, policy, standing.need, nowMs);
  if (verdict.kind === 'refused') {
    throw new PoolError('invalid_release', `${batch.key}: ${verdict.message}`);
  }
  return verdict.person.name;
}

/**
 * Verifies the word of a person about a batch that waits, and stores it. The worker reads it within seconds.
 * @throws PoolError `invalid_release` if it does not count
 */
export async function storeRelease(
  { policy, log }: ReleaseDeps,
  view: Pick<PreparedBatchView, 'batch' | 'standing'>,
  word: BatchRelease,
  nowMs: number,
): Promise<ReleaseEntry> {
  const { batch } = view;
  const by = assertCounts({ policy }, view, word, nowMs);
  const { publicKey, signature, ...content } = word;
  const entry = {
    ...describeBatch(batch, policy),
    event: word.decision,
    by,
    at: new Date(nowMs).toISOString(),
    statement: computeBatchReleaseText(content),
    ...{ publicKey, signature },
  };
  return log.append(entry, `${word.decision} ${batch.manifestDigest} ${signature}`);
}

/** @throws PoolError `not_found` if no batch waits under the key, or under a label */
export function findPreparedBatches(
  name: string,
  views: readonly PreparedBatchView[],
): readonly PreparedBatchView[] {
  const start = `${name.replaceAll(' ', '-')}-`;
  const byKey = views.filter(({ batch }) => batch.key === name);
  const found = byKey.length > 0 ? byKey : views.filter(({ batch }) => isOfLabel(batch.key, start));
  if (found.length === 0) {
    throw new PoolError(
      'not_found',
      'no prepared batch has this key or label; "disburse-agent release list" lists those that wait',
    );
  }
  return found;
}

/** Keys of pay runs: the label, perhaps `-1of3`, and 32 hex digits. */
function isOfLabel(key: string, start: string): boolean {
  return (
    key.startsWith(start) && /^(?:[0-9]+of[0-9]+-)?[0-9a-f]{32}$/.test(key.slice(start.length))
  );
}
