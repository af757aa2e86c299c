/**
 * The durable ledger of a signer or of the approve process, in one SQLite file: manifests, votes, signing guard, daily sums, evidence
 * pins, releases and the audit log. Everything that limits future approvals is written in the transaction of the vote that it belongs to.
 *
 * @module
 */
import { type Hex32, PoolError } from '@pool/core';
import type { LedgerView } from '../history/ledger-view.ts';
import type { SignRequest } from '../requests/requests.ts';
import { appendAudit, findAuditHead, listAudit, verifyLog } from './audit.ts';
import { createHistoryStore } from './history-store.ts';
import { detectRestore, openLedgerDatabase, raiseMarker } from './ledger-database.ts';
import { createManifests } from './manifests.ts';
import { createPolicyStore } from './policy-store.ts';
import { createView, findManifestFor, findSpendByDigest, listManifests } from './read-view.ts';
import { createStatements, type Statements } from './table.ts';
import { createVotes, type LedgerFaultPoint } from './votes.ts';

/**
 * Everything that a gate or an enclave stores. This is the port of another store: one that several hosts share needs a lock for one voter,
 * a number of the voter that each of its writes compares (`ledger_in_use`), and the same immediate transactions.
 */
export type Ledger = ReturnType<typeof openLedger>;

export type LedgerStatus = ReturnType<typeof readStatus>;

/**
 * Opens or makes a ledger.
 * @throws PoolError `ledger_in_use` (another voter has it), `ledger_unreadable`
 */
export function openLedger(options: {
  /** A file, made 0600, or `:memory:`. Its lock and its marker lie beside it. */
  readonly path: string;
  /**
   * `voter`: the one process that votes; it holds the lock. `operator`: a command beside it, which reads, adds releases and merges
   * histories.
   */
  readonly role: 'voter' | 'operator';
  /** Tests stop the process here. */
  readonly passFaultPoint?: (point: LedgerFaultPoint) => void;
}) {
  const { path, role, passFaultPoint = () => {} } = options;
  const { database, isNew, close } = openLedgerDatabase(path, role === 'voter');
  const statements = createStatements(database);
  const markerPath = path === ':memory:' ? undefined : `${path}.generation`;

  const voter = role === 'voter' ? takeOver(statements) : undefined;

  /** One transaction. What it wrote is numbered, and the number is on the disk before anything is given out. */
  function write<T>(work: () => T): T {
    const { result, hasWritten } = statements.transact(
      () => {
        if (voter !== undefined && readVoter(statements) !== voter) {
          throw new PoolError(
            'ledger_in_use',
            'another process votes with this ledger since; stop this one',
          );
        }
        return work();
      },
      () => void statements.run('UPDATE ledger SET generation = generation + 1'),
    );
    if (hasWritten && markerPath !== undefined) {
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
    ...createManifests(statements, view, write, passFaultPoint),
    ...createVotes(statements, view, write, passFaultPoint),
    ...createHistoryStore(statements, view, write),
    /** The stored manifest that a request belongs to, also when the request asks for something else than the manifest says. */
    findManifestFor: (request: SignRequest) => findManifestFor(statements, request),
    /** A spend by m, for a custodian that shows only the digest. */
    findSpendByDigest: (digest: Hex32) => findSpendByDigest(statements, digest),
    listManifests: () => listManifests(statements, 'ORDER BY received_at_ms DESC'),
    /** Reads within one transaction and stores nothing: for dry runs and `approve check`. */
    read: <T>(work: (view: LedgerView) => T): T => statements.transact(() => work(view)).result,
    writeAudit: (event: string, data: Readonly<Record<string, unknown>>, nowMs: number): void =>
      write(() => appendAudit(statements, event, data, nowMs)),
    listAudit: (afterSeq: number, limit: number) => listAudit(statements, afterSeq, limit),
    /** The chain of the log, and the daily sums, whose digests it contains. */
    verifyAudit: () => verifyLog(statements),
    /** The newest entry. Whoever keeps its hash elsewhere notices later that the end of the log was cut off. */
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

function readStatus({ get }: Statements) {
  const count = (rows: string): number =>
    Number(get(`SELECT count(*) AS count FROM ${rows}`)?.['count']);
  const row = get('SELECT * FROM ledger');
  const because = row?.['restored_because'];
  return {
    isRestored: because !== null,
    /** Why it counts as restored. */
    restoredBecause: typeof because === 'string' ? because : undefined,
    generation: Number(row?.['generation']),
    manifests: count('manifest'),
    votes: count('vote'),
    openVotes: count('vote WHERE seen_at_ms IS NULL'),
    waiting: count('waiting'),
  };
}
