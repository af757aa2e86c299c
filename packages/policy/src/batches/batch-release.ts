/**
 * The signed word of a person about a batch that the agent has prepared. Its digest binds chain, pool, token, funder, key, every recipient
 * and every amount, so it counts for no other batch. It counts again for the same batch, whatever became of the process.
 *
 * @module
 */
import { isoTimeSchema, maxEvidenceSkewMs } from '@pool/core';
import * as v from 'valibot';
import { releaseContentEntries } from '../people/release.ts';
import { createStatement, type PersonSignature } from '../people/statement.ts';
import type { ReleaseNeed, ReleasePerson, ReleasePolicy } from './release-policy.ts';

const statement = createStatement('pool/v1/batch-release', {
  ...releaseContentEntries,
  key: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(255),
    v.description('Idempotency-Key of the batch. That of a pay run begins with its label.'),
  ),
  count: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Number of recipients.')),
  policy: v.pipe(
    v.string(),
    v.regex(/^[0-9a-f]{64}$/),
    v.description('SHA-256 of the release policy under which it counts.'),
  ),
  until: v.pipe(isoTimeSchema, v.maxLength(32), v.description('It counts until then, UTC.')),
});

export const {
  compute: computeBatchReleaseText,
  parse: parseBatchReleaseText,
  sign: signBatchRelease,
  isSigned: isBatchReleaseSigned,
} = statement;

/** What a person signs. */
export type BatchReleaseContent = Parameters<typeof computeBatchReleaseText>[0];
export type BatchRelease = BatchReleaseContent & PersonSignature;

/** What is paid, as the agent itself computed it. */
export type ReleasedBatch = Pick<
  BatchReleaseContent,
  'manifestDigest' | 'total' | 'token' | 'key' | 'count'
>;

export type BatchReleaseVerdict =
  | { readonly kind: 'valid'; readonly person: ReleasePerson }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Whether a signed word about this batch counts under this policy now.
 * @param need - of the batch, under the policy
 */
export function verifyBatchRelease(
  release: BatchRelease,
  batch: ReleasedBatch,
  policy: ReleasePolicy,
  need: Extract<ReleaseNeed, { kind: 'people' }>,
  nowMs: number,
): BatchReleaseVerdict {
  const refused = (message: string): BatchReleaseVerdict => ({ kind: 'refused', message });
  for (const name of ['manifestDigest', 'total', 'token', 'key', 'count'] as const) {
    if (release[name] !== batch[name]) {
      return refused(`it was signed for another batch: ${name} differs`);
    }
  }
  const has = ({ publicKey }: ReleasePerson): boolean => publicKey === release.publicKey;
  const preparer = need.preparers.find(has);
  if (preparer !== undefined && release.decision === 'release') {
    return refused(`${preparer.name} prepared the batch, and does not release it`);
  }
  // Whoever prepared it may stop it.
  const may = release.decision === 'deny' ? [...need.people, ...need.preparers] : need.people;
  const person = may.find(has);
  if (person === undefined) {
    return refused('the key is not that of a person who may release it');
  }
  if (release.policy !== policy.sha256) {
    return refused(
      'it was signed under another release policy; sign again with what "release show" writes now',
    );
  }
  if (!(Date.parse(release.issuedAt) <= nowMs + maxEvidenceSkewMs)) {
    return refused('issuedAt is more than 5 minutes ahead; correct the clock of one machine');
  }
  if (!(nowMs < Date.parse(release.until))) {
    return refused(`it counted until ${release.until}`);
  }
  return statement.isSigned(release)
    ? { kind: 'valid', person }
    : refused('the signature is not that of the key over this text');
}

export type ReleaseState = {
  readonly isReleased: boolean;
  /** Whose keys released it. */
  readonly releasedBy: readonly ReleasePerson[];
  /** Who may still release it. */
  readonly waitsFor: readonly ReleasePerson[];
  /** How many more are required. */
  readonly missing: number;
  /** Name of a person who denied it, or the key of one whom the policy does not list any more. It is never paid. */
  readonly deniedBy: string | undefined;
};

/** Verifies every word again, because the policy may have changed since it was stored. */
export function countBatchReleases(
  words: readonly BatchRelease[],
  batch: ReleasedBatch,
  policy: ReleasePolicy,
  need: Extract<ReleaseNeed, { kind: 'people' }>,
  nowMs: number,
): ReleaseState {
  const counted = words
    .filter(({ decision }) => decision === 'release')
    .flatMap((word) => {
      const verdict = verifyBatchRelease(word, batch, policy, need, nowMs);
      return verdict.kind === 'valid' ? [verdict.person] : [];
    });
  const releasedBy = [...new Set(counted)];
  const missing = Math.max(0, need.required - releasedBy.length);
  // A person who left the policy keeps their no, also after its time: else an edit or a wait would take it back.
  const denial = words.find(
    (word) =>
      word.decision === 'deny' &&
      word.manifestDigest === batch.manifestDigest &&
      statement.isSigned(word),
  );
  const denier = policy.people.find(({ publicKey }) => publicKey === denial?.publicKey);
  return {
    isReleased: missing === 0 && denial === undefined,
    releasedBy,
    waitsFor: missing === 0 ? [] : need.people.filter((person) => !releasedBy.includes(person)),
    missing,
    deniedBy: denial && (denier?.name ?? denial.publicKey),
  };
}
