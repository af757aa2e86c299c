/**
 * The audit log: append-only, each entry hashed with the hash of the one before. It names requests, digests and reasons, and no
 * people or amounts, because nothing in it can be erased.
 *
 * @module
 */
import { canonicalDigest, canonicalJson, type Hex32, zeroWord } from '@pool/core';
import * as v from 'valibot';
import { payeeScopePrefix } from '../history/guard-id.ts';
import type { Statements } from './table.ts';
import { type AuditEntry, auditTable, countTable } from './tables.ts';

export type AuditVerdict =
  | { readonly kind: 'intact'; readonly entries: number; readonly head: Hex32 }
  | { readonly kind: 'broken'; readonly seq: number; readonly message: string };

function computeAuditHash(previous: Hex32, entry: Omit<AuditEntry, 'hash'>): Hex32 {
  const { seq, atMs, event, data } = entry;
  return canonicalDigest(['pool/v1/audit', previous, seq, atMs, event, data]);
}

export function appendAudit(
  statements: Statements,
  event: string,
  content: object,
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

/** The chain of the log, and the daily sums, whose digests it contains. */
export function verifyLog(statements: Statements): AuditVerdict {
  const entries = listAudit(statements, 0, -1);
  const verdict = verifyChain(entries);
  const changed = verdict.kind === 'intact' ? findChangedCount(statements, entries) : undefined;
  return changed === undefined
    ? verdict
    : {
        kind: 'broken',
        seq: changed.seq,
        message: `the sums of ${changed.guardId} are not those of entry ${changed.seq}`,
      };
}

/** Recomputes the whole chain. An entry that was cut off at the end shows only against a head that was kept elsewhere. */
function verifyChain(entries: Iterable<AuditEntry>): AuditVerdict {
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

// The daily sums: each entry that changed them names their digest, so that a lowered sum breaks the log.

/** How long the sums of recipients are kept: a UTC day and 24 hours are within it. */
const recipientSumMs = 172_800_000;

/**
 * Sums of recipients before this time limit nothing. The clock alone does not say so, because it may be ahead: the newest approval does,
 * because a clock behind it approves nothing.
 */
export function findRecipientsEnd({ get }: Statements, nowMs: number): number {
  const newest = get("SELECT max(decided_at_ms) AS at FROM vote WHERE value = 'approve'")?.['at'];
  return Math.min(nowMs, Number(newest ?? 0)) - recipientSumMs;
}

/**
 * Erases them. Those that an entry of the audit log named since stay until it is as old, as {@link findChangedCount} expects.
 * @returns how many
 */
export function eraseRecipients(statements: Statements, nowMs: number): number {
  const endMs = findRecipientsEnd(statements, nowMs);
  const old = statements
    .all(
      'SELECT DISTINCT guard_id FROM counted WHERE substr(scope, 1, ?) = ? AND at_ms < ?',
      payeeScopePrefix.length,
      payeeScopePrefix,
      endMs,
    )
    .map((row) => String(row['guard_id']));
  const named = old.length === 0 ? undefined : listNamedSince(statements, endMs);
  let erased = 0;
  for (const guardId of old.filter((id) => named?.has(nameOfRecipients(id)) === false)) {
    erased += statements.run(
      'DELETE FROM counted WHERE guard_id = ? AND substr(scope, 1, ?) = ? AND at_ms < ?',
      guardId,
      payeeScopePrefix.length,
      payeeScopePrefix,
      endMs,
    );
  }
  return erased;
}

function listNamedSince({ all }: Statements, fromMs: number): ReadonlySet<string> {
  const rows = all(
    `SELECT data FROM audit WHERE at_ms >= ? AND instr(data, '"counted"') > 0`,
    fromMs,
  );
  return new Set(rows.flatMap((row) => Object.keys(readNamed(String(row['data'])))));
}

/** Digests of what guard ids count for. The sums of recipients have a digest of their own, because they are erased. */
export function readCountDigests(
  statements: Statements,
  guardIds: Iterable<string>,
): Readonly<Record<string, Hex32>> {
  const digests: Record<string, Hex32> = {};
  for (const guardId of guardIds) {
    const rows = countTable.list(statements, 'WHERE guard_id = ? ORDER BY scope, day', guardId);
    const ofPeople = rows.filter(({ scope }) => scope.startsWith(payeeScopePrefix));
    for (const [name, counts] of [
      [guardId, rows.filter((row) => !ofPeople.includes(row))],
      [nameOfRecipients(guardId), ofPeople],
    ] as const) {
      if (counts.length > 0) {
        const lines = counts.map(({ scope, day, amount, atMs }) => [scope, day, `${amount}`, atMs]);
        digests[name] = canonicalDigest(['pool/v1/counted', guardId, lines]);
      }
    }
  }
  return digests;
}

/** A space is in no guard id. */
function nameOfRecipients(guardId: string): string {
  return `${guardId} recipients`;
}

const countedSchema = v.object({ counted: v.record(v.string(), v.string()) });

function readNamed(data: string): Readonly<Record<string, string>> {
  const parsed = data.includes('"counted"')
    ? v.safeParse(countedSchema, JSON.parse(data))
    : undefined;
  return parsed?.success === true ? parsed.output.counted : {};
}

const approvalSchema = v.object({ value: v.literal('approve') });

/** It was made while the clock was right. Other entries may be dated ahead. */
function isApproval({ event, data }: AuditEntry): boolean {
  return event === 'vote.decided' && v.is(approvalSchema, JSON.parse(data));
}

/** @returns the entry whose sums differ from those that are stored, or undefined */
function findChangedCount(
  statements: Statements,
  entries: Iterable<AuditEntry>,
): { readonly seq: number; readonly guardId: string } | undefined {
  const expected = new Map<string, { readonly entry: AuditEntry; readonly digest: string }>();
  let newestMs = 0;
  for (const entry of entries) {
    newestMs = isApproval(entry) ? Math.max(newestMs, entry.atMs) : newestMs;
    for (const [name, digest] of Object.entries(readNamed(entry.data))) {
      expected.set(name, { entry, digest });
    }
  }
  const stored = statements
    .all('SELECT DISTINCT guard_id FROM counted')
    .map((row) => String(row['guard_id']));
  const digests = readCountDigests(statements, stored);
  for (const name of new Set([...expected.keys(), ...Object.keys(digests)])) {
    const known = expected.get(name);
    const isErased =
      known !== undefined &&
      name.endsWith(' recipients') &&
      known.entry.atMs < newestMs - recipientSumMs;
    if (!isErased && known?.digest !== digests[name]) {
      return { seq: known?.entry.seq ?? 0, guardId: name };
    }
  }
  return undefined;
}
