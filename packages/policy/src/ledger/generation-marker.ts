/**
 * The number of the ledger's last write, in a file beside it. A database that is older than its marker was restored from a backup: it
 * lacks votes, so it must not vote.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { parseStrictJson } from '@pool/core';
import { isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';
import type { Statements } from './table.ts';

const markerSchema = v.strictObject({
  version: v.literal(1),
  ledgerId: v.string(),
  generation: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
type Marker = v.InferOutput<typeof markerSchema>;

function readMarker(path: string): Marker | 'absent' | 'unreadable' {
  try {
    return v.parse(markerSchema, parseStrictJson(readFileSync(path, 'utf8'), 'the marker'));
  } catch (error) {
    return isCode(error, 'ENOENT') ? 'absent' : 'unreadable';
  }
}

/** What the marker of this database says. */
function readLedger({ get }: Statements): Marker {
  const row = get('SELECT * FROM ledger');
  return {
    version: 1,
    ledgerId: String(row?.['ledger_id']),
    generation: Number(row?.['generation']),
  };
}

/** Never lowers the marker of this ledger. It is on the disk when this returns. */
export function raiseMarker(statements: Statements, path: string): void {
  const ledger = readLedger(statements);
  const marker = readMarker(path);
  const isCurrent =
    typeof marker === 'object' &&
    marker.ledgerId === ledger.ledgerId &&
    marker.generation >= ledger.generation;
  if (!isCurrent) {
    replaceDurableFile(path, `${JSON.stringify(ledger)}\n`);
  }
}

/** A database that is older than its marker lacks votes. It stays marked until it is re-baselined. @param isNew - it was made now */
export function detectRestore(statements: Statements, path: string, isNew: boolean): void {
  // The marker is read first: another process may write both meanwhile, the database before its marker.
  const marker = readMarker(path);
  const reason = findRestoreReason(marker, readLedger(statements), isNew);
  if (reason !== undefined) {
    const seen = typeof marker === 'object' ? marker.generation : 0;
    statements.transact(() => {
      statements.run('UPDATE ledger SET generation = max(generation, ?) + 1', seen);
      markRestored(statements, reason);
    });
  }
  raiseMarker(statements, path);
}

export function markRestored({ run }: Statements, because: string): void {
  run('UPDATE ledger SET restored_because = coalesce(restored_because, ?)', because);
}

/** Why the ledger is older than what was voted. Undefined: it is current. */
function findRestoreReason(
  marker: ReturnType<typeof readMarker>,
  ledger: Marker,
  isNew: boolean,
): string | undefined {
  if (marker === 'absent') {
    // A marker is written before any vote is given out, so a new ledger has none.
    return isNew ? undefined : 'the generation marker is missing';
  }
  if (marker === 'unreadable') {
    return 'the generation marker cannot be read';
  }
  if (isNew) {
    return 'the database is missing, and its marker is there';
  }
  if (marker.ledgerId !== ledger.ledgerId) {
    return 'the database is that of another ledger';
  }
  return marker.generation > ledger.generation
    ? `the database ends at write ${ledger.generation}, and write ${marker.generation} was made`
    : undefined;
}
