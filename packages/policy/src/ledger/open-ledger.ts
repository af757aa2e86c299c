/**
 * The ledger in one SQLite file. Everything that limits future approvals is written in the transaction of the vote that it belongs to.
 *
 * @module
 */
import { manifestFileSchema, PoolError, parseWire } from '@pool/core';
import { payeeScopePrefix } from '../history/guard-id.ts';
import type { LedgerHistory } from '../history/ledger-history.ts';
import { appendAudit, findAuditHead, listAudit, verifyAudit } from './audit.ts';
import { findChangedCount, findRecipientsEnd, readCountDigests } from './counted-digests.ts';
import { eraseManifests } from './erase-manifests.ts';
import { findRestoreReason, readMarker, writeMarker } from './generation-marker.ts';
import type { AuditVerdict, Ledger, LedgerStatus } from './ledger.ts';
import { openLedgerDatabase } from './ledger-database.ts';
import { createPolicyStore } from './policy-store.ts';
import { createView, findManifestFor, findSpendByDigest, listManifests } from './read-view.ts';
import { createStatements, type Statements } from './statements.ts';
import { storeManifest } from './store-manifest.ts';
import { releaseTable, voteTable, waitingTable } from './tables.ts';
import {
  decideVote,
  dropWaiting,
  findVote,
  type LedgerFaultPoint,
  markSeen,
  markSent,
  noteTransaction,
} from './votes.ts';
import { findMissing, readHistory, writeHistory } from './write-history.ts';

export type LedgerOptions = {
  /** A file, made 0600, or `:memory:`. Its lock and its marker lie beside it. */
  readonly path: string;
  /**
   * `voter`: the one process that votes; it holds the lock. `operator`: a command beside it, which reads, adds releases and merges
   * histories.
   */
  readonly role: 'voter' | 'operator';
  /** Tests stop the process here. */
  readonly passFaultPoint?: (point: LedgerFaultPoint) => void;
};

/**
 * Opens or makes a ledger.
 * @throws PoolError `ledger_in_use` (another voter has it), `ledger_unreadable`
 */
export function openLedger(options: LedgerOptions): Ledger {
  const { path, role, passFaultPoint = () => {} } = options;
  const { database, isNew, close } = openLedgerDatabase(path, role === 'voter');
  const statements = createStatements(database);
  const markerPath = path === ':memory:' ? undefined : `${path}.generation`;

  const voter = role === 'voter' ? takeOver(statements) : undefined;

  /** One transaction. What it wrote is numbered, and the number is on the disk before anything is given out. */
  function write<T>(work: () => T): T {
    const { result, hasWritten } = statements.transact(
      () => {
        requireVoter(statements, voter);
        return work();
      },
      () => {
        statements.run('UPDATE ledger SET generation = generation + 1');
      },
    );
    if (hasWritten) {
      raiseMarker(statements, markerPath);
    }
    return result;
  }

  const view = createView(statements);
  if (markerPath !== undefined) {
    detectRestore(statements, markerPath, isNew);
  }
  return {
    policies: createPolicyStore(statements, write),
    storeManifest: (manifest, nowMs, judge) => {
      const result = write(() => {
        const stored = storeManifest(statements, manifest, nowMs, judge);
        if (stored.kind === 'stored' || stored.kind === 'refused') {
          const reason = 'reason' in stored ? { reason: stored.reason } : {};
          const { manifestDigest, kind } = manifest;
          appendAudit(
            statements,
            `manifest.${stored.kind}`,
            { manifestDigest, kind, ...reason },
            nowMs,
          );
        }
        passFaultPoint('manifest.recorded');
        return stored;
      });
      passFaultPoint('manifest.committed');
      return result;
    },
    findManifestFor: (request) => findManifestFor(statements, request),
    findSpendByDigest: (digest) => findSpendByDigest(statements, digest),
    listManifests: () => listManifests(statements, 'ORDER BY received_at_ms DESC'),
    readFile(manifestDigest) {
      const text = statements.get(
        'SELECT file FROM manifest WHERE manifest_digest = ?',
        manifestDigest,
      )?.['file'];
      return typeof text === 'string'
        ? parseWire(manifestFileSchema, JSON.parse(text), 'stored manifest')
        : undefined;
    },
    decide(question, decide) {
      const voted = write(() => decideVote(statements, question, decide, passFaultPoint));
      passFaultPoint('vote.committed');
      return voted;
    },
    read: (work) => statements.transact(() => work(view)).result,
    findVote: (requestId) => findVote(statements, requestId),
    listVotes: (manifestDigest) =>
      voteTable.list(statements, 'WHERE manifest_digest = ? ORDER BY id', manifestDigest),
    listOpenVotes: () => voteTable.list(statements, 'WHERE seen_at_ms IS NULL ORDER BY id'),
    listWaiting: () => waitingTable.list(statements, 'ORDER BY since_ms, request_id'),
    noteTransaction: (voteId, transactionId) =>
      write(() => noteTransaction(statements, voteId, transactionId)),
    markSent: (voteId, nowMs) => write(() => markSent(statements, voteId, nowMs)),
    markSeen: (voteId, nowMs) => write(() => markSeen(statements, voteId, nowMs)),
    dropWaiting: (requestId, nowMs) => write(() => dropWaiting(statements, requestId, nowMs)),
    addRelease: (release, nowMs) =>
      write(() => {
        const { manifestDigest, publicKey, decision } = release;
        const rosterDigest = view.findManifest(manifestDigest)?.batch?.rosterDigest;
        if (rosterDigest === undefined) {
          throw new PoolError('manifest_unknown', 'no batch with this manifest digest is stored');
        }
        const isFirst = releaseTable.write(statements, 'INSERT OR IGNORE', {
          ...release,
          rosterDigest,
        });
        if (isFirst > 0) {
          appendAudit(statements, 'release.added', { manifestDigest, publicKey, decision }, nowMs);
        }
      }),
    exportHistory: () => statements.transact(() => readHistory(statements)).result,
    importHistory: (history, nowMs) =>
      write(() => {
        const counted = mergeHistory(statements, history, nowMs);
        appendAudit(
          statements,
          'history.imported',
          { ...countHistory(history), ...counted },
          nowMs,
        );
      }),
    compareHistory: (history, nowMs) =>
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
    rebaseline: (history, { by, isComplete, accepted }, nowMs) =>
      write(() => {
        const counted = mergeHistory(statements, history, nowMs);
        if (isComplete) {
          statements.run('UPDATE ledger SET restored_because = NULL');
        }
        const event = isComplete ? 'ledger.rebaselined' : 'history.imported';
        const lost =
          accepted === undefined
            ? {}
            : {
                person: accepted.person.publicKey,
                accepted: accepted.statement,
                signature: accepted.signature,
              };
        appendAudit(
          statements,
          event,
          { by, ...countHistory(history), ...counted, ...lost },
          nowMs,
        );
        return isComplete;
      }),
    eraseManifests: (beforeMs, nowMs, by) =>
      write(() => eraseManifests(statements, beforeMs, nowMs, by)),
    writeAudit: (event, data, nowMs) => write(() => appendAudit(statements, event, data, nowMs)),
    listAudit: (afterSeq, limit) => listAudit(statements, afterSeq, limit),
    verifyAudit: () => verifyLog(statements),
    findAuditHead: () => findAuditHead(statements),
    status: () => readStatus(statements),
    close,
  };
}

/** The lock keeps a second voter out. The number also stops the first one if its lock is lost, for example with a deleted lock file. */
function takeOver(statements: Statements): number {
  return statements.transact(() => {
    statements.run('UPDATE ledger SET voter = voter + 1');
    return readVoter(statements);
  }).result;
}

function readVoter({ get }: Statements): number {
  return Number(get('SELECT voter FROM ledger')?.['voter']);
}

function requireVoter(statements: Statements, voter: number | undefined): void {
  if (voter !== undefined && readVoter(statements) !== voter) {
    throw new PoolError(
      'ledger_in_use',
      'another process votes with this ledger since; stop this one',
    );
  }
}

type Identity = { readonly ledgerId: string; readonly generation: number };

function readIdentity({ get }: Statements): Identity {
  const row = get('SELECT * FROM ledger');
  return { ledgerId: String(row?.['ledger_id']), generation: Number(row?.['generation']) };
}

/** A database that is older than its marker lacks votes. It stays marked until it is re-baselined. */
function detectRestore(statements: Statements, markerPath: string, isNew: boolean): void {
  // The marker is read first: another process may write both meanwhile, the database before its marker.
  const read = readMarker(markerPath);
  const reason = findRestoreReason(read, readIdentity(statements), isNew);
  if (reason !== undefined) {
    const seen = read.kind === 'read' ? read.marker.generation : 0;
    statements.transact(() => {
      statements.run('UPDATE ledger SET generation = max(generation, ?) + 1', seen);
      markRestored(statements, reason);
    });
  }
  raiseMarker(statements, markerPath);
}

function markRestored({ run }: Statements, because: string): void {
  run('UPDATE ledger SET restored_because = coalesce(restored_because, ?)', because);
}

/** Never lowers the marker of this ledger. */
function raiseMarker(statements: Statements, markerPath: string | undefined): void {
  if (markerPath === undefined) {
    return;
  }
  const identity = readIdentity(statements);
  const read = readMarker(markerPath);
  const isCurrent =
    read.kind === 'read' &&
    read.marker.ledgerId === identity.ledgerId &&
    read.marker.generation >= identity.generation;
  if (!isCurrent) {
    writeMarker(markerPath, identity);
  }
}

/** The chain of the log, and the sums that it names. */
function verifyLog(statements: Statements): AuditVerdict {
  const entries = listAudit(statements, 0, -1);
  const verdict = verifyAudit(entries);
  const changed = verdict.kind === 'intact' ? findChangedCount(statements, entries) : undefined;
  return changed === undefined
    ? verdict
    : {
        kind: 'broken',
        seq: changed.seq,
        message: `the sums of ${changed.guardId} are not those of entry ${changed.seq}`,
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

function countHistory(history: LedgerHistory): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(history).map(([name, entries]: [string, readonly unknown[]]) => [
      name,
      entries.length,
    ]),
  );
}

function readStatus(statements: Statements): LedgerStatus {
  const { get } = statements;
  const count = (sql: string): number => Number(get(sql)?.['count']);
  const row = get('SELECT * FROM ledger');
  const because = row?.['restored_because'];
  return {
    isRestored: because !== null,
    restoredBecause: typeof because === 'string' ? because : undefined,
    generation: Number(row?.['generation']),
    manifests: count('SELECT count(*) AS count FROM manifest'),
    votes: count('SELECT count(*) AS count FROM vote'),
    openVotes: count('SELECT count(*) AS count FROM vote WHERE seen_at_ms IS NULL'),
    waiting: count('SELECT count(*) AS count FROM waiting'),
  };
}
