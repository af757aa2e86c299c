/**
 * What survives in every merge of two ledgers, and its JSON file, for `approve ledger export` and `import`. It holds no people and no
 * secret, but it links batches of one funder.
 *
 * @module
 */
import {
  canonicalJson,
  encryptionPublicKeySchema,
  type Hex32,
  hex32Schema,
  parseStrictJson,
  parseWire,
  unixSecondsSchema,
} from '@pool/core';
import * as v from 'valibot';
import { type Release, releaseSchema } from '../people/release.ts';
import { signKinds } from '../requests/request-digest.ts';

const timeSchema = v.pipe(v.number(), v.integer(), v.minValue(0));
const idSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(1024));

const historyFileSchema = v.strictObject({
  version: v.literal(1),
  purpose: v.literal('pool/v1/ledger-history'),
  guards: v.array(
    v.strictObject({
      /** {@link computeGuardId}. Public. */
      id: idSchema,
      kind: v.picklist(signKinds),
      digest: hex32Schema,
      firstAtMs: timeSchema,
      /** Two ledgers approved different digests for this id. Both are refused from then on. */
      isConflicted: v.boolean(),
    }),
  ),
  counts: v.array(
    v.strictObject({
      /** Guard id of the batch or spend. */
      guardId: idSchema,
      /** What it counts for: {@link computeCountScope} a token of a pool, and other scopes of `guard-id.ts`. */
      scope: idSchema,
      /** UTC day `YYYY-MM-DD`. */
      day: v.pipe(v.string(), v.regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/)),
      /** Base units, wei of a fee, or a number of approvals. */
      amount: v.pipe(
        v.string(),
        v.regex(/^(?:0|[1-9][0-9]{0,38})$/),
        v.transform((value) => BigInt(value)),
      ),
      /** When it was approved. */
      atMs: timeSchema,
    }),
  ),
  pins: v.array(
    v.strictObject({
      /** {@link computeWalletKey} of W. */
      walletKey: hex32Schema,
      encryptionPublicKey: encryptionPublicKeySchema,
      issuedAtMs: timeSchema,
    }),
  ),
  /** {@link computePayeeKey} of each address that was paid. */
  payees: v.array(hex32Schema),
  rosters: v.array(
    v.strictObject({
      rosterDigest: hex32Schema,
      /** Guard id of its batch. */
      guardId: idSchema,
      /** Empty: the job key has no label. */
      label: v.pipe(v.string(), v.maxLength(255)),
      approvedAtMs: timeSchema,
    }),
  ),
  nullifiers: v.array(
    v.strictObject({
      nullifier: hex32Schema,
      manifestDigest: hex32Schema,
      /** Deadline of that spend, Unix seconds. */
      deadline: unixSecondsSchema,
    }),
  ),
  releases: v.array(v.strictObject({ ...releaseSchema.entries, rosterDigest: hex32Schema })),
});
type HistoryFile = v.InferOutput<typeof historyFileSchema>;
type Entry<TPart extends 'guards' | 'counts' | 'pins' | 'rosters' | 'nullifiers'> = Readonly<
  HistoryFile[TPart][number]
>;

/** One id of the signing guard: what was approved for it. Its history outlives keys and wallets. */
export type GuardEntry = Entry<'guards'>;
/** What counts against a daily limit. A batch or spend counts once, at the time and on the UTC day of its first approval. */
export type CountEntry = Entry<'counts'>;
/** The newest evidence seen for a wallet. */
export type EvidencePin = Entry<'pins'>;
/** A roster that was approved. */
export type RosterEntry = Entry<'rosters'>;
/** A nullifier that an approved spend consumes. */
export type NullifierEntry = Entry<'nullifiers'>;
/** A statement of a person, with the roster of its batch. */
export type RosterRelease = Release & { readonly rosterDigest: Hex32 };

export type LedgerHistory = {
  readonly guards: readonly GuardEntry[];
  readonly counts: readonly CountEntry[];
  readonly pins: readonly EvidencePin[];
  readonly payees: readonly Hex32[];
  readonly rosters: readonly RosterEntry[];
  readonly nullifiers: readonly NullifierEntry[];
  readonly releases: readonly RosterRelease[];
};

export const emptyHistory: LedgerHistory = {
  guards: [],
  counts: [],
  pins: [],
  payees: [],
  rosters: [],
  nullifiers: [],
  releases: [],
};

/** Canonical JSON. */
export function serializeHistory(history: LedgerHistory): string {
  const counts = history.counts.map((entry) => ({ ...entry, amount: String(entry.amount) }));
  return canonicalJson({ ...history, counts, version: 1, purpose: 'pool/v1/ledger-history' });
}

/** @throws PoolError `invalid_value`, `invalid_request` unless the text is an exported history */
export function parseHistory(text: string): LedgerHistory {
  const {
    version: _version,
    purpose: _purpose,
    ...history
  } = parseWire(historyFileSchema, parseStrictJson(text, 'the ledger history'), 'ledger history');
  return history;
}

// How two histories become one. Every merge is commutative, associative and idempotent, and never lowers anything: a guard stays, a
// conflict stays, a sum of a day does not fall.
// Vectors: vectors/signing-guard.json.

/** The lesser of two values, in the order of `<`. */
function firstOf<T extends string>(left: T, right: T): T {
  if (left < right) {
    return left;
  }
  return right;
}

/** The greater of two values, in the order of `>`. */
export function lastOf<T extends string | bigint>(left: T, right: T): T {
  if (left > right) {
    return left;
  }
  return right;
}

/** Two digests for one id: both are refused from then on. */
export function mergeGuards(left: GuardEntry, right: GuardEntry): GuardEntry {
  const isSame = left.digest === right.digest && left.kind === right.kind;
  return {
    id: left.id,
    kind: firstOf(left.kind, right.kind),
    digest: firstOf(left.digest, right.digest),
    firstAtMs: Math.min(left.firstAtMs, right.firstAtMs),
    isConflicted: left.isConflicted || right.isConflicted || !isSame,
  };
}

/** Of one guard id, scope and day. The later time counts longer. */
export function mergeCounts(left: CountEntry, right: CountEntry): CountEntry {
  const amount = lastOf(left.amount, right.amount);
  return { ...left, amount, atMs: Math.max(left.atMs, right.atMs) };
}

/** The newest evidence. Of two keys of one instant, one is kept by a rule that does not depend on the order of merges. */
export function mergePins(left: EvidencePin, right: EvidencePin): EvidencePin {
  if (left.issuedAtMs !== right.issuedAtMs) {
    return left.issuedAtMs > right.issuedAtMs ? left : right;
  }
  return left.encryptionPublicKey > right.encryptionPublicKey ? left : right;
}

/** Of one roster and guard id. The later approval is the stricter one. */
export function mergeRosters(left: RosterEntry, right: RosterEntry): RosterEntry {
  const label = lastOf(left.label, right.label);
  return { ...left, label, approvedAtMs: Math.max(left.approvedAtMs, right.approvedAtMs) };
}

/** Of one nullifier and manifest. */
export function mergeNullifiers(left: NullifierEntry, right: NullifierEntry): NullifierEntry {
  return { ...left, deadline: Math.max(left.deadline, right.deadline) };
}
