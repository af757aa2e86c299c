/**
 * The audit log: append-only, each entry hashed with the hash of the one before. It names requests, digests and reasons, and no
 * people or amounts, because nothing in it can be erased.
 *
 * @module
 */
import { canonicalDigest, canonicalJson, type Hex32, zeroWord } from '@pool/core';
import type { AuditEntry, AuditVerdict } from './ledger.ts';
import type { Statements } from './statements.ts';
import { auditTable } from './tables.ts';

function computeAuditHash(previous: Hex32, entry: Omit<AuditEntry, 'hash'>): Hex32 {
  const { seq, atMs, event, data } = entry;
  return canonicalDigest(['pool/v1/audit', previous, seq, atMs, event, data]);
}

export function appendAudit(
  statements: Statements,
  event: string,
  content: Readonly<Record<string, unknown>>,
  atMs: number,
): void {
  const last = findAuditHead(statements);
  const seq = (last?.seq ?? 0) + 1;
  const data = canonicalJson(content);
  const hash = computeAuditHash(last?.hash ?? zeroWord, { seq, atMs, event, data });
  auditTable.write(statements, 'INSERT', { seq, atMs, event, data, hash });
}

export function listAudit(
  statements: Statements,
  afterSeq: number,
  limit: number,
): readonly AuditEntry[] {
  return auditTable.list(statements, 'WHERE seq > ? ORDER BY seq LIMIT ?', afterSeq, limit);
}

/** Undefined: nothing was written yet. */
export function findAuditHead(statements: Statements): AuditEntry | undefined {
  return auditTable.find(statements, 'ORDER BY seq DESC LIMIT 1');
}

/** Recomputes the whole chain. An entry that was cut off at the end shows only against a head that was kept elsewhere. */
export function verifyAudit(entries: Iterable<AuditEntry>): AuditVerdict {
  let head = zeroWord;
  let seq = 0;
  for (const entry of entries) {
    seq += 1;
    if (entry.seq !== seq) {
      return { kind: 'broken', seq, message: `entry ${seq} is missing` };
    }
    if (entry.hash !== computeAuditHash(head, entry)) {
      return { kind: 'broken', seq, message: `entry ${seq} was changed, or one before it was` };
    }
    head = entry.hash;
  }
  return { kind: 'intact', entries: seq, head };
}
