/**
 * Writes what limits future approvals: guard, daily sums, pins, payees, rosters, nullifiers, statements of people. Every write is a merge, so an approval and
 * an import use the same code and neither can lower anything.
 *
 * @module
 */
import type { LedgerHistory } from '../history/ledger-history.ts';
import {
  mergeCounts,
  mergeGuards,
  mergeNullifiers,
  mergePins,
  mergeRosters,
} from '../history/merge-history.ts';
import type { Statements } from './statements.ts';
import type { Table } from './table.ts';
import {
  countTable,
  guardTable,
  nullifierTable,
  payeeTable,
  pinTable,
  releaseTable,
  rosterTable,
} from './tables.ts';

/** Merges a history into the tables. */
export function writeHistory(statements: Statements, history: LedgerHistory): void {
  function put<T>(table: Table<T>, entries: readonly T[], merge: (left: T, right: T) => T): void {
    for (const entry of entries) {
      const known = table.findSame(statements, entry);
      const merged = known === undefined ? entry : merge(known, entry);
      table.write(statements, 'INSERT OR REPLACE', merged);
    }
  }
  put(guardTable, history.guards, mergeGuards);
  put(countTable, history.counts, mergeCounts);
  put(pinTable, history.pins, mergePins);
  put(rosterTable, history.rosters, mergeRosters);
  put(nullifierTable, history.nullifiers, mergeNullifiers);
  for (const payeeKey of history.payees) {
    payeeTable.write(statements, 'INSERT OR IGNORE', { payeeKey });
  }
  for (const release of history.releases) {
    releaseTable.write(statements, 'INSERT OR IGNORE', release);
  }
}

/** Everything that limits future approvals, in a fixed order. */
export function readHistory(statements: Statements): LedgerHistory {
  return {
    guards: guardTable.listAll(statements),
    counts: countTable.listAll(statements),
    pins: pinTable.listAll(statements),
    payees: payeeTable.listAll(statements).map(({ payeeKey }) => payeeKey),
    rosters: rosterTable.listAll(statements),
    nullifiers: nullifierTable.listAll(statements),
    releases: releaseTable.listAll(statements),
  };
}

/** Names of approvals that the ledger does not have, or has with another content. A conflicted id is known: every content is refused. */
export function findMissing(statements: Statements, { guards }: LedgerHistory): readonly string[] {
  return guards
    .filter((guard) => {
      const { kind, digest } = guard;
      const byId = guardTable.findSame(statements, guard);
      const isKnown = byId?.digest === digest || byId?.isConflicted === true;
      // A custodian shows only the digest of a spend, and not the manifest that its id is made of.
      const byDigest =
        kind === 'spend'
          ? guardTable.find(statements, 'WHERE kind = ? AND digest = ?', kind, digest)
          : undefined;
      return !isKnown && byDigest === undefined;
    })
    .map(({ id }) => id);
}
