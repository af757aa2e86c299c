/**
 * The daily sums in the audit log: each entry that changed them names their digest, so that a lowered sum breaks the log.
 *
 * @module
 */
import { canonicalDigest, type Hex32 } from '@pool/core';
import * as v from 'valibot';
import { payeeScopePrefix } from '../guard/guard-id.ts';
import type { AuditEntry } from './ledger.ts';
import { readCountRow } from './rows.ts';
import type { Statements } from './statements.ts';

/** How long the sums of recipients are kept: a UTC day and 24 hours are within it. */
export const recipientSumMs = 172_800_000;

/** Digests of what guard ids count for. The sums of recipients have a digest of their own, because they are erased. */
export function readCountDigests(
  { all }: Statements,
  guardIds: Iterable<string>,
): Readonly<Record<string, Hex32>> {
  const digests: Record<string, Hex32> = {};
  for (const guardId of guardIds) {
    const rows = all('SELECT * FROM counted WHERE guard_id = ? ORDER BY scope, day', guardId).map(
      readCountRow,
    );
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

/** @returns the entry whose sums differ from those that are stored, or undefined */
export function findChangedCount(
  statements: Statements,
  entries: Iterable<AuditEntry>,
): { readonly seq: number; readonly guardId: string } | undefined {
  const expected = new Map<string, { readonly entry: AuditEntry; readonly digest: string }>();
  let nowMs = 0;
  for (const entry of entries) {
    nowMs = Math.max(nowMs, entry.atMs);
    const parsed = entry.data.includes('"counted"')
      ? v.safeParse(countedSchema, JSON.parse(entry.data))
      : undefined;
    for (const [name, digest] of Object.entries(parsed?.success ? parsed.output.counted : {})) {
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
      known.entry.atMs < nowMs - recipientSumMs;
    if (!isErased && known?.digest !== digests[name]) {
      return { seq: known?.entry.seq ?? 0, guardId: name };
    }
  }
  return undefined;
}
