/**
 * What limits future approvals: guard, daily sums, pins, payees, rosters, nullifiers, statements of people. Every write is a merge, so an
 * approval and an import use the same code and neither can lower anything.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { payeeScopePrefix } from '../history/guard-id.ts';
import {
  type LedgerHistory,
  mergeCounts,
  mergeGuards,
  mergeNullifiers,
  mergePins,
  mergeRosters,
} from '../history/ledger-history.ts';
import type { LedgerView } from '../history/ledger-view.ts';
import type { AcceptedLoss } from '../people/policy-change.ts';
import type { Release } from '../people/release.ts';
import { appendAudit, findRecipientsEnd, readCountDigests } from './audit.ts';
import { markRestored } from './ledger-database.ts';
import type { Statements, Table } from './table.ts';
import {
  countTable,
  guardTable,
  nullifierTable,
  payeeTable,
  pinTable,
  releaseTable,
  rosterTable,
} from './tables.ts';

/** @param write - one transaction of the ledger */
export function createHistoryStore(
  statements: Statements,
  view: LedgerView,
  write: <T>(work: () => T) => T,
) {
  /** Merges, and writes what happened into the audit log. */
  function record(event: string, history: LedgerHistory, content: object, nowMs: number): void {
    const counted = mergeHistory(statements, history, nowMs);
    const parts = Object.entries(history).map(([name, entries]: [string, readonly unknown[]]) => [
      name,
      entries.length,
    ]);
    const sums = Object.fromEntries(parts) as Readonly<Record<string, number>>;
    appendAudit(statements, event, { ...sums, ...content, ...counted }, nowMs);
  }

  return {
    /**
     * Stores a release whose signature {@link verifyRelease} accepted, with the roster of its batch.
     * @throws PoolError `manifest_unknown` if no such batch is stored
     */
    addRelease: (release: Release, nowMs: number): void =>
      write(() => {
        const { manifestDigest, publicKey, decision } = release;
        const rosterDigest = view.findManifest(manifestDigest)?.batch?.rosterDigest;
        if (rosterDigest === undefined) {
          throw new PoolError('manifest_unknown', 'no batch with this manifest digest is stored');
        }
        const row = { ...release, rosterDigest };
        if (releaseTable.write(statements, 'INSERT OR IGNORE', row) > 0) {
          appendAudit(statements, 'release.added', { manifestDigest, publicKey, decision }, nowMs);
        }
      }),
    exportHistory: (): LedgerHistory => statements.transact(() => readHistory(statements)).result,
    /** Merges monotonically: nothing that is stored is ever lowered or removed. */
    importHistory: (history: LedgerHistory, nowMs: number): void =>
      write(() => record('history.imported', history, {}, nowMs)),
    /** What of this history the ledger lacks. If anything is missing, the ledger counts as restored from then on. */
    compareHistory: (history: LedgerHistory, nowMs: number) =>
      write(() => {
        const missing = findMissing(statements, history);
        if (missing.length > 0 && !view.isRestored) {
          markRestored(
            statements,
            `the custodian or the chain shows ${missing.length} approvals that the ledger does not have`,
          );
          appendAudit(statements, 'ledger.incomplete', { missing: missing.length }, nowMs);
        }
        return { missing };
      }),
    /**
     * Merges what the chain and the custodian know. Ends the state `restored` if the caller says that nothing is left out.
     * @returns whether it ended
     */
    rebaseline: (
      history: LedgerHistory,
      basis: {
        readonly by: string;
        readonly isComplete: boolean;
        /** A person's word about approvals that the caller could not describe: for the audit log. */
        readonly accepted?: AcceptedLoss | undefined;
      },
      nowMs: number,
    ): boolean =>
      write(() => {
        const { by, isComplete, accepted } = basis;
        if (isComplete) {
          statements.run('UPDATE ledger SET restored_because = NULL');
        }
        const event = isComplete ? 'ledger.rebaselined' : 'history.imported';
        const lost = accepted && {
          person: accepted.person.publicKey,
          accepted: accepted.statement,
          signature: accepted.signature,
        };
        record(event, history, { by, ...lost }, nowMs);
        return isComplete;
      }),
  };
}

/**
 * Sums of recipients that limit nothing any more do not come back.
 * @returns digests of the sums that changed, for the audit log
 */
function mergeHistory(statements: Statements, history: LedgerHistory, nowMs: number) {
  const endMs = findRecipientsEnd(statements, nowMs);
  const counts = history.counts.filter(
    ({ scope, atMs }) => !scope.startsWith(payeeScopePrefix) || atMs >= endMs,
  );
  const guardIds = new Set(counts.map(({ guardId }) => guardId));
  const before = readCountDigests(statements, guardIds);
  writeHistory(statements, { ...history, counts });
  const changed = Object.entries(readCountDigests(statements, guardIds)).filter(
    ([name, digest]) => before[name] !== digest,
  );
  return changed.length === 0 ? {} : { counted: Object.fromEntries(changed) };
}

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
function readHistory(statements: Statements): LedgerHistory {
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
function findMissing(statements: Statements, { guards }: LedgerHistory): readonly string[] {
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
