/**
 * How two histories become one. Every merge is commutative, associative and idempotent, and never lowers anything: a guard stays, a
 * conflict stays, a sum of a day does not fall.
 * Vectors: vectors/signing-guard.json.
 *
 * @module
 */
import type {
  CountEntry,
  EvidencePin,
  GuardEntry,
  NullifierEntry,
  RosterEntry,
} from './ledger-history.ts';

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
  return {
    id: left.id,
    kind: firstOf(left.kind, right.kind),
    digest: firstOf(left.digest, right.digest),
    firstAtMs: Math.min(left.firstAtMs, right.firstAtMs),
    isConflicted:
      left.isConflicted ||
      right.isConflicted ||
      left.digest !== right.digest ||
      left.kind !== right.kind,
  };
}

/** Of one guard id, scope and day. */
export function mergeCounts(left: CountEntry, right: CountEntry): CountEntry {
  return {
    guardId: left.guardId,
    day: left.day,
    scope: left.scope,
    amount: lastOf(left.amount, right.amount),
    // The later time counts longer.
    atMs: Math.max(left.atMs, right.atMs),
  };
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
  return {
    rosterDigest: left.rosterDigest,
    guardId: left.guardId,
    label: lastOf(left.label, right.label),
    approvedAtMs: Math.max(left.approvedAtMs, right.approvedAtMs),
  };
}

/** Of one nullifier and manifest. */
export function mergeNullifiers(left: NullifierEntry, right: NullifierEntry): NullifierEntry {
  return { ...left, deadline: Math.max(left.deadline, right.deadline) };
}
