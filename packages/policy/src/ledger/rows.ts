/**
 * Rows of the ledger's tables as the values of this package. The values were parsed when they were written.
 *
 * @module
 */
import type { SQLOutputValue } from 'node:sqlite';
import {
  type EncryptionPublicKey,
  type EvmAddress,
  type Hex32,
  parseEncryptionPublicKey,
  parseEvmAddress,
  parseHex32,
} from '@pool/core';
import type { DecisionReason } from '../decide/reasons.ts';
import { parseBatchScope } from '../guard/guard-id.ts';
import type { SignKind } from '../requests/requests.ts';
import type { AuditEntry, Vote, WaitingRequest } from './ledger.ts';
import type {
  CountEntry,
  EvidencePin,
  GuardEntry,
  NullifierEntry,
  RosterEntry,
  RosterRelease,
  StoredManifest,
  UnknownRoster,
} from './ledger-view.ts';

export type Row = Record<string, SQLOutputValue>;

function text(row: Row, name: string): string {
  return String(row[name]);
}

function optional<T>(row: Row, name: string, read: (value: string) => T): T | undefined {
  const value = row[name];
  return value === null || value === undefined ? undefined : read(String(value));
}

function hex32(row: Row, name: string): Hex32 {
  return parseHex32(text(row, name));
}

function address(row: Row, name: string): EvmAddress {
  return parseEvmAddress(text(row, name));
}

function encryptionKey(row: Row, name: string): EncryptionPublicKey {
  return parseEncryptionPublicKey(text(row, name));
}

// Kinds and reasons are written by this package only, from their unions.
function kindOf(row: Row): SignKind {
  return text(row, 'kind') as SignKind;
}

function reasonOf(value: string): DecisionReason {
  return value as DecisionReason;
}

export function readManifestRow(row: Row): StoredManifest {
  const isBatch = row['kind'] === 'fund';
  return {
    manifestDigest: hex32(row, 'manifest_digest'),
    kind: isBatch ? 'fund' : 'spend',
    chainId: Number(row['chain_id']),
    pool: address(row, 'pool'),
    token: address(row, 'token'),
    digest: hex32(row, 'digest'),
    deadline: Number(row['deadline']),
    receivedAtMs: Number(row['received_at_ms']),
    isErased: row['is_erased'] === 1,
    batch: isBatch
      ? {
          funder: address(row, 'funder'),
          employerId: text(row, 'employer_id'),
          jobKey: text(row, 'job_key'),
          attempt: Number(row['attempt']),
          batchNonce: hex32(row, 'batch_nonce'),
          batchId: hex32(row, 'batch_id'),
          total: BigInt(text(row, 'total')),
          voidDigest: hex32(row, 'void_digest'),
          rosterDigest: hex32(row, 'roster_digest'),
        }
      : undefined,
  };
}

export function readGuardRow(row: Row): GuardEntry {
  return {
    id: text(row, 'id'),
    kind: kindOf(row),
    digest: hex32(row, 'digest'),
    firstAtMs: Number(row['first_at_ms']),
    isConflicted: row['is_conflicted'] === 1,
  };
}

export function readCountRow(row: Row): CountEntry {
  return {
    guardId: text(row, 'guard_id'),
    scope: text(row, 'scope'),
    day: text(row, 'day'),
    amount: BigInt(text(row, 'amount')),
    atMs: Number(row['at_ms']),
  };
}

/** Of a guard and its count, which may be missing. The total of a conflicted guard is not known. */
export function readUnknownRosterRow(row: Row): UnknownRoster {
  const scope = optional(row, 'scope', parseBatchScope);
  const isConflicted = row['is_conflicted'] === 1;
  return {
    guardId: text(row, 'id'),
    paid:
      scope === undefined || isConflicted
        ? undefined
        : { ...scope, total: BigInt(text(row, 'amount')) },
  };
}

export function readPinRow(row: Row): EvidencePin {
  return {
    walletKey: hex32(row, 'wallet_key'),
    encryptionPublicKey: encryptionKey(row, 'encryption_public_key'),
    issuedAtMs: Number(row['issued_at_ms']),
  };
}

export function readPayeeRow(row: Row): Hex32 {
  return hex32(row, 'payee_key');
}

export function readRosterRow(row: Row): RosterEntry {
  return {
    rosterDigest: hex32(row, 'roster_digest'),
    guardId: text(row, 'guard_id'),
    label: text(row, 'label'),
    approvedAtMs: Number(row['approved_at_ms']),
  };
}

export function readNullifierRow(row: Row): NullifierEntry {
  return {
    nullifier: hex32(row, 'nullifier'),
    manifestDigest: hex32(row, 'manifest_digest'),
    deadline: Number(row['deadline']),
  };
}

export function readReleaseRow(row: Row): RosterRelease {
  return {
    rosterDigest: hex32(row, 'roster_digest'),
    manifestDigest: hex32(row, 'manifest_digest'),
    total: text(row, 'total'),
    token: address(row, 'token'),
    decision: row['decision'] === 'release' ? 'release' : 'deny',
    issuedAt: text(row, 'issued_at'),
    publicKey: text(row, 'public_key'),
    signature: text(row, 'signature'),
  };
}

export function readVoteRow(row: Row): Vote {
  return {
    id: Number(row['id']),
    requestId: text(row, 'request_id'),
    transactionId: optional(row, 'transaction_id', String),
    kind: kindOf(row),
    digest: optional(row, 'digest', parseHex32),
    value: row['value'] === 'approve' ? 'approve' : 'deny',
    reason: optional(row, 'reason', reasonOf),
    manifestDigest: optional(row, 'manifest_digest', parseHex32),
    decidedAtMs: Number(row['decided_at_ms']),
    sentAtMs: optional(row, 'sent_at_ms', Number),
    seenAtMs: optional(row, 'seen_at_ms', Number),
  };
}

export function readWaitingRow(row: Row): WaitingRequest {
  return {
    requestId: text(row, 'request_id'),
    transactionId: optional(row, 'transaction_id', String),
    kind: kindOf(row),
    manifestDigest: optional(row, 'manifest_digest', parseHex32),
    reason: reasonOf(text(row, 'reason')),
    message: text(row, 'message'),
    sinceMs: Number(row['since_ms']),
  };
}

export function readAuditRow(row: Row): AuditEntry {
  return {
    seq: Number(row['seq']),
    atMs: Number(row['at_ms']),
    event: text(row, 'event'),
    data: text(row, 'data'),
    hash: hex32(row, 'hash'),
  };
}
