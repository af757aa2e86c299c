/**
 * The log of what was prepared, released, denied, cancelled and paid: append-only, each entry with the digest of the one before. It holds
 * totals and names of the people of the policy, and no recipient.
 *
 * @module
 */
import { canonicalDigest, type Hex32, hex32Schema, isoTimeSchema, zeroWord } from '@pool/core';
import * as v from 'valibot';

const releaseEvents = [
  'prepare',
  'release',
  'deny',
  'released',
  'cancel',
  'paid',
  'failed',
  'owners-asked',
  'owners-signed',
  'owners-withdrawn',
] as const;

function text(max: number) {
  return v.pipe(v.string(), v.maxLength(max));
}

export const releaseEntrySchema = v.strictObject({
  /** From 1, without a gap. */
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  at: v.pipe(isoTimeSchema, v.maxLength(32)),
  event: v.picklist(releaseEvents),
  /** A person, a credential, or `agent`. */
  by: text(128),
  /** Idempotency-Key of the batch. */
  key: text(255),
  /** Absent: the batch was not built yet. */
  manifestDigest: v.optional(hex32Schema),
  chain: text(32),
  /** Symbol. */
  token: text(32),
  /** Base units, decimal. */
  total: text(39),
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** SHA-256 of the release policy. Empty: the owners of a contract wallet decide. */
  policy: text(64),
  /** Of a release or denial: what was signed, with its newline. Of `owners-…`: the request, or its id and the signatures. */
  statement: v.optional(text(4_096)),
  publicKey: v.optional(text(66)),
  signature: v.optional(text(130)),
  /** Transaction of what was paid, or code of what failed. */
  outcome: v.optional(text(128)),
  /** Digest of the entry before. Of the first: 32 zero bytes. */
  previous: hex32Schema,
  /** Of this entry. */
  digest: hex32Schema,
});
export type ReleaseEntry = v.InferOutput<typeof releaseEntrySchema>;

/** An entry before it has its place. */
export type NewReleaseEntry = Omit<ReleaseEntry, 'number' | 'previous' | 'digest'>;

export function chainEntry(entry: NewReleaseEntry, last: ReleaseEntry | undefined): ReleaseEntry {
  const placed = {
    ...entry,
    number: (last?.number ?? 0) + 1,
    previous: last?.digest ?? zeroWord,
  };
  return { ...placed, digest: computeEntryDigest(placed) };
}

function computeEntryDigest(entry: Omit<ReleaseEntry, 'digest'>): Hex32 {
  return canonicalDigest(['pool/v1/release-log', entry]);
}

export type ReleaseLogVerdict =
  | { readonly kind: 'intact'; readonly entries: number; readonly head: Hex32 }
  | { readonly kind: 'broken'; readonly number: number; readonly message: string };

/**
 * Names the first entry that is not as it was written.
 * @param kept - digest of an entry that was kept elsewhere. Without it, entries that were cut off at the end do not show
 */
export function verifyReleaseLog(entries: readonly unknown[], kept?: string): ReleaseLogVerdict {
  function broken(number: number, message: string): ReleaseLogVerdict {
    return { kind: 'broken', number, message };
  }
  let head = zeroWord;
  let isKeptFound = kept === undefined;
  for (const [index, value] of entries.entries()) {
    const number = index + 1;
    const parsed = v.safeParse(releaseEntrySchema, value);
    if (!parsed.success) {
      return broken(number, `entry ${number} is not an entry of a release log`);
    }
    const { digest, ...entry } = parsed.output;
    if (entry.number !== number) {
      return broken(number, `entry ${number} is missing`);
    }
    if (digest !== computeEntryDigest(entry)) {
      return broken(number, `entry ${number} was changed`);
    }
    if (entry.previous !== head) {
      return broken(number, `entry ${number} does not follow entry ${number - 1}`);
    }
    head = digest;
    isKeptFound ||= digest === kept;
  }
  if (!isKeptFound) {
    const number = entries.length + 1;
    return broken(number, 'no entry has the digest that was kept: the end was cut off or replaced');
  }
  return { kind: 'intact', entries: entries.length, head };
}
