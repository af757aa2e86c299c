/**
 * Writes what limits future approvals: guard, daily sums, pins, payees, rosters, nullifiers, statements of people. Every write is a merge, so an approval and
 * an import use the same code and neither can lower anything.
 *
 * @module
 */
import type { DecisionRecord } from '../decide/decision.ts';
import {
  mergeCounts,
  mergeGuards,
  mergeNullifiers,
  mergePins,
  mergeRosters,
} from '../guard/merge-history.ts';
import type { LedgerHistory } from './ledger.ts';
import type {
  CountEntry,
  EvidencePin,
  GuardEntry,
  NullifierEntry,
  RosterEntry,
  RosterRelease,
} from './ledger-view.ts';
import {
  type Row,
  readCountRow,
  readGuardRow,
  readNullifierRow,
  readPayeeRow,
  readPinRow,
  readReleaseRow,
  readRosterRow,
} from './rows.ts';
import type { Statements } from './statements.ts';

function mergeWith<T>(
  row: Row | undefined,
  read: (row: Row) => T,
  entry: T,
  merge: (left: T, right: T) => T,
): T {
  return row === undefined ? entry : merge(read(row), entry);
}

function putGuard({ get, run }: Statements, entry: GuardEntry): void {
  const row = get('SELECT * FROM guard WHERE id = ?', entry.id);
  const merged = mergeWith(row, readGuardRow, entry, mergeGuards);
  run(
    'INSERT OR REPLACE INTO guard (id, kind, digest, first_at_ms, is_conflicted) VALUES (?, ?, ?, ?, ?)',
    merged.id,
    merged.kind,
    merged.digest,
    merged.firstAtMs,
    merged.isConflicted ? 1 : 0,
  );
}

function putCount({ get, run }: Statements, entry: CountEntry): void {
  const row = get(
    'SELECT * FROM counted WHERE guard_id = ? AND scope = ? AND day = ?',
    entry.guardId,
    entry.scope,
    entry.day,
  );
  const merged = mergeWith(row, readCountRow, entry, mergeCounts);
  run(
    'INSERT OR REPLACE INTO counted (guard_id, day, scope, amount, at_ms) VALUES (?, ?, ?, ?, ?)',
    merged.guardId,
    merged.day,
    merged.scope,
    String(merged.amount),
    merged.atMs,
  );
}

function putPin({ get, run }: Statements, entry: EvidencePin): void {
  const row = get('SELECT * FROM pin WHERE wallet_key = ?', entry.walletKey);
  const merged = mergeWith(row, readPinRow, entry, mergePins);
  run(
    'INSERT OR REPLACE INTO pin (wallet_key, encryption_public_key, issued_at_ms) VALUES (?, ?, ?)',
    merged.walletKey,
    merged.encryptionPublicKey,
    merged.issuedAtMs,
  );
}

function putPayee({ run }: Statements, payeeKey: string): void {
  run('INSERT OR IGNORE INTO payee (payee_key) VALUES (?)', payeeKey);
}

function putRoster({ get, run }: Statements, entry: RosterEntry): void {
  const row = get(
    'SELECT * FROM roster WHERE roster_digest = ? AND guard_id = ?',
    entry.rosterDigest,
    entry.guardId,
  );
  const merged = mergeWith(row, readRosterRow, entry, mergeRosters);
  run(
    'INSERT OR REPLACE INTO roster (roster_digest, guard_id, label, approved_at_ms) VALUES (?, ?, ?, ?)',
    merged.rosterDigest,
    merged.guardId,
    merged.label,
    merged.approvedAtMs,
  );
}

function putNullifier({ get, run }: Statements, entry: NullifierEntry): void {
  const row = get(
    'SELECT * FROM nullifier WHERE nullifier = ? AND manifest_digest = ?',
    entry.nullifier,
    entry.manifestDigest,
  );
  const merged = mergeWith(row, readNullifierRow, entry, mergeNullifiers);
  run(
    'INSERT OR REPLACE INTO nullifier (nullifier, manifest_digest, deadline) VALUES (?, ?, ?)',
    merged.nullifier,
    merged.manifestDigest,
    merged.deadline,
  );
}

/** A person's statement, once. @returns how many rows are new */
export function putRelease({ run }: Statements, release: RosterRelease): number {
  const { manifestDigest, publicKey, decision, total, token, issuedAt, signature } = release;
  return run(
    `INSERT OR IGNORE INTO released (manifest_digest, public_key, decision, total, token, issued_at, signature, roster_digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    manifestDigest,
    publicKey,
    decision,
    total,
    token,
    issuedAt,
    signature,
    release.rosterDigest,
  );
}

/** What an approval adds. */
export function writeRecord(statements: Statements, record: DecisionRecord): void {
  putGuard(statements, record.guard);
  writeHistory(statements, {
    guards: [],
    counts: record.counts,
    pins: record.pins,
    payees: record.payees,
    rosters: record.roster === undefined ? [] : [record.roster],
    nullifiers: record.nullifiers,
    releases: [],
  });
}

/** Merges a history into the tables. */
export function writeHistory(statements: Statements, history: LedgerHistory): void {
  for (const entry of history.guards) {
    putGuard(statements, entry);
  }
  for (const entry of history.counts) {
    putCount(statements, entry);
  }
  for (const entry of history.pins) {
    putPin(statements, entry);
  }
  for (const payee of history.payees) {
    putPayee(statements, payee);
  }
  for (const entry of history.rosters) {
    putRoster(statements, entry);
  }
  for (const entry of history.nullifiers) {
    putNullifier(statements, entry);
  }
  for (const release of history.releases) {
    putRelease(statements, release);
  }
}

/** Everything that limits future approvals, in a fixed order. */
export function readHistory({ all }: Statements): LedgerHistory {
  return {
    guards: all('SELECT * FROM guard ORDER BY id').map(readGuardRow),
    counts: all('SELECT * FROM counted ORDER BY guard_id, scope, day').map(readCountRow),
    pins: all('SELECT * FROM pin ORDER BY wallet_key').map(readPinRow),
    payees: all('SELECT payee_key FROM payee ORDER BY payee_key').map(readPayeeRow),
    rosters: all('SELECT * FROM roster ORDER BY roster_digest, guard_id').map(readRosterRow),
    nullifiers: all('SELECT * FROM nullifier ORDER BY nullifier, manifest_digest').map(
      readNullifierRow,
    ),
    releases: all(
      'SELECT * FROM released ORDER BY roster_digest, manifest_digest, public_key, decision, issued_at, signature',
    ).map(readReleaseRow),
  };
}

/** Names of approvals that the ledger does not have, or has with another content. A conflicted id is known: every content is refused. */
export function findMissing({ get }: Statements, { guards }: LedgerHistory): readonly string[] {
  return guards
    .filter(({ id, kind, digest }) => {
      const byId = get('SELECT digest, is_conflicted FROM guard WHERE id = ?', id);
      const isKnown = byId?.['digest'] === digest || byId?.['is_conflicted'] === 1;
      // A custodian shows only the digest of a spend, and not the manifest that its id is made of.
      const byDigest =
        kind === 'spend'
          ? get('SELECT 1 FROM guard WHERE kind = ? AND digest = ?', kind, digest)
          : undefined;
      return !isKnown && byDigest === undefined;
    })
    .map(({ id }) => id);
}
