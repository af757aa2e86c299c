/**
 * What a decision reads from the ledger. Every function is synchronous and reads within the ledger's own transaction.
 *
 * @module
 */
import type { EvmAddress, Hex32 } from '@pool/core';
import type { Release } from '../people/release.ts';
import type { SignKind } from '../requests/requests.ts';
import type { EvidencePin, GuardEntry, NullifierEntry, RosterEntry } from './ledger-history.ts';

/** An approved batch whose roster the ledger does not know: only a custodian's history shows it. */
export type UnknownRoster = {
  readonly guardId: string;
  /** What it paid. Undefined: unknown too. */
  readonly paid:
    | { readonly chainId: number; readonly token: EvmAddress; readonly total: bigint }
    | undefined;
};

/** A stored manifest, without people and seed: it stays after they were erased. */
export type StoredManifest = {
  readonly manifestDigest: Hex32;
  readonly kind: 'fund' | 'spend';
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly token: EvmAddress;
  /** Digest of the authorisation, or m. */
  readonly digest: Hex32;
  /** Unix seconds. */
  readonly deadline: number;
  readonly receivedAtMs: number;
  readonly isErased: boolean;
  /** Undefined for a spend. */
  readonly batch:
    | {
        readonly funder: EvmAddress;
        readonly employerId: string;
        readonly jobKey: string;
        readonly attempt: number;
        readonly batchNonce: Hex32;
        readonly batchId: Hex32;
        readonly total: bigint;
        readonly voidDigest: Hex32;
        readonly rosterDigest: Hex32;
      }
    | undefined;
};

export type LedgerView = {
  /** The ledger is older than what was voted: nothing is approved before it was re-baselined. */
  readonly isRestored: boolean;
  findManifest(manifestDigest: Hex32): StoredManifest | undefined;
  /** The stored manifest of this batch nonce. It stays after people and seed were erased. */
  findBatch(
    chainId: number,
    pool: EvmAddress,
    funder: EvmAddress,
    batchNonce: Hex32,
  ): StoredManifest | undefined;
  /** Every stored attempt of a job, in their order. */
  listAttempts(employerId: string, jobKey: string): readonly StoredManifest[];
  findGuard(id: string): GuardEntry | undefined;
  /** Guard entries of a kind that approved this digest, under any id. */
  findGuardByDigest(kind: SignKind, digest: Hex32): GuardEntry | undefined;
  /** How many ids of the guard begin with this text. */
  countGuards(prefix: string): number;
  hasCounted(guardId: string): boolean;
  /** The most that this guard id counts for in a scope. Zero: nothing. */
  countOf(guardId: string, scope: string): bigint;
  /** Sum that counts on this day, base units. */
  sumOfDay(scope: string, day: string): bigint;
  /** Sum of what was approved after this time, base units. */
  sumSince(scope: string, afterMs: number): bigint;
  /** Time of the newest vote or approval, zero for none. */
  readonly newestAtMs: number;
  findPin(walletKey: Hex32): EvidencePin | undefined;
  hasPaid(payeeKey: Hex32): boolean;
  /** Approved batches with this roster. */
  listRosters(rosterDigest: Hex32): readonly RosterEntry[];
  /** Batches that were approved after this time, and whose roster is unknown. */
  listUnknownRosters(afterMs: number): readonly UnknownRoster[];
  /** Spends of this holder, or of an unknown one, that were approved after this time, and whose notes are unknown. */
  listUnknownSpends(holder: EvmAddress, afterMs: number): readonly GuardEntry[];
  listNullifiers(nullifiers: readonly Hex32[]): readonly NullifierEntry[];
  /** What people stated about every batch with this roster. A caller that counts them verifies each. */
  listReleases(rosterDigest: Hex32): readonly Release[];
};
