/**
 * The ledger as a decision reads it.
 *
 * @module
 */
import { fieldToHex } from '@pool/core';
import { computeSpendDigestId } from '../guard/guard-id.ts';
import { lastOf } from '../guard/merge-history.ts';
import { computeRequestDigest } from '../requests/request-digest.ts';
import type { PermitSignRequest, SignRequest, TokenApprovalRequest } from '../requests/requests.ts';
import { readApproval } from '../requests/token-approval.ts';
import type { LedgerView, StoredManifest } from './ledger-view.ts';
import {
  readCountRow,
  readGuardRow,
  readManifestRow,
  readNullifierRow,
  readPinRow,
  readReleaseRow,
  readRosterRow,
  readUnknownRosterRow,
} from './rows.ts';
import type { Statements } from './statements.ts';

/** Everything but the file, so that no query reads people by accident. */
export const manifestColumns =
  'manifest_digest, kind, chain_id, pool, token, digest, deadline, received_at_ms, file IS NULL AS is_erased, funder, ' +
  'employer_id, job_key, attempt, batch_nonce, batch_id, total, void_digest, roster_digest';

export function createView(statements: Statements): LedgerView {
  const { get, all } = statements;
  return {
    get isRestored() {
      return get('SELECT restored_because AS because FROM ledger')?.['because'] !== null;
    },
    findManifest(manifestDigest) {
      const row = get(
        `SELECT ${manifestColumns} FROM manifest WHERE manifest_digest = ?`,
        manifestDigest,
      );
      return row === undefined ? undefined : readManifestRow(row);
    },
    findBatch(chainId, pool, funder, batchNonce) {
      const row = get(
        `SELECT ${manifestColumns} FROM manifest WHERE batch_nonce = ? AND chain_id = ? AND pool = ? AND funder = ?`,
        batchNonce,
        chainId,
        pool,
        funder,
      );
      return row === undefined ? undefined : readManifestRow(row);
    },
    listAttempts: (employerId, jobKey) =>
      all(
        `SELECT ${manifestColumns} FROM manifest WHERE employer_id = ? AND job_key = ? ORDER BY attempt`,
        employerId,
        jobKey,
      ).map(readManifestRow),
    findGuard(id) {
      const row = get('SELECT * FROM guard WHERE id = ?', id);
      return row === undefined ? undefined : readGuardRow(row);
    },
    findGuardByDigest(kind, digest) {
      const row = get('SELECT * FROM guard WHERE kind = ? AND digest = ?', kind, digest);
      return row === undefined ? undefined : readGuardRow(row);
    },
    countGuards: (prefix) =>
      Number(
        get(
          'SELECT count(*) AS count FROM guard WHERE substr(id, 1, ?) = ?',
          prefix.length,
          prefix,
        )?.['count'],
      ),
    hasCounted: (guardId) =>
      get('SELECT 1 FROM counted WHERE guard_id = ? LIMIT 1', guardId) !== undefined,
    countOf: (guardId, scope) =>
      all('SELECT * FROM counted WHERE guard_id = ? AND scope = ?', guardId, scope)
        .map(readCountRow)
        .reduce((most, { amount }) => lastOf(most, amount), 0n),
    sumOfDay: (scope, day) =>
      all('SELECT * FROM counted WHERE scope = ? AND day = ?', scope, day)
        .map(readCountRow)
        .reduce((sum, { amount }) => sum + amount, 0n),
    sumSince: (scope, afterMs) =>
      all('SELECT * FROM counted WHERE scope = ? AND at_ms > ?', scope, afterMs)
        .map(readCountRow)
        .reduce((sum, { amount }) => sum + amount, 0n),
    get newestAtMs() {
      const vote = get('SELECT max(decided_at_ms) AS at FROM vote')?.['at'];
      const guard = get('SELECT max(first_at_ms) AS at FROM guard')?.['at'];
      return Math.max(Number(vote ?? 0), Number(guard ?? 0));
    },
    findPin(walletKey) {
      const row = get('SELECT * FROM pin WHERE wallet_key = ?', walletKey);
      return row === undefined ? undefined : readPinRow(row);
    },
    hasPaid: (payeeKey) => get('SELECT 1 FROM payee WHERE payee_key = ?', payeeKey) !== undefined,
    listRosters: (rosterDigest) =>
      all('SELECT * FROM roster WHERE roster_digest = ?', rosterDigest).map(readRosterRow),
    listUnknownRosters: (afterMs) =>
      all(
        `SELECT guard.id, guard.is_conflicted, counted.scope, counted.amount
         FROM guard LEFT JOIN counted ON counted.guard_id = guard.id AND substr(counted.scope, 1, 5) = 'fund/'
         WHERE guard.kind = 'fund-authorization' AND guard.first_at_ms > ?
           AND guard.id NOT IN (SELECT guard_id FROM roster)`,
        afterMs,
      ).map(readUnknownRosterRow),
    listUnknownSpends: (holder, afterMs) =>
      all(
        `SELECT * FROM guard
         WHERE kind = 'spend' AND first_at_ms > ? AND (id = ? || digest OR id = ? || digest)
           AND digest NOT IN (SELECT digest FROM guard WHERE kind = 'spend' AND substr(id, 1, 6) = 'spend/')`,
        afterMs,
        computeSpendDigestId(undefined, ''),
        computeSpendDigestId(holder, ''),
      ).map(readGuardRow),
    listNullifiers: (nullifiers) =>
      nullifiers.flatMap((nullifier) =>
        all('SELECT * FROM nullifier WHERE nullifier = ?', nullifier).map(readNullifierRow),
      ),
    listReleases: (rosterDigest) =>
      all('SELECT * FROM released WHERE roster_digest = ?', rosterDigest).map(readReleaseRow),
  };
}

/** The manifest that a request belongs to, also when it asks for something else than the manifest says. */
export function findManifestFor(
  statements: Statements,
  request: SignRequest,
): StoredManifest | undefined {
  const view = createView(statements);
  switch (request.kind) {
    case 'fund-authorization': {
      const { chainId, pool, authorization } = request.payload;
      const { funder, batchNonce } = authorization;
      return view.findBatch(chainId, pool, funder, fieldToHex(batchNonce));
    }
    case 'void': {
      const { chainId, pool, funder, batchNonce } = request.payload;
      return view.findBatch(chainId, pool, funder, fieldToHex(batchNonce));
    }
    case 'permit':
    case 'token-approval':
      return findAllowanceManifest(statements, request);
    case 'spend':
      return findSpendByDigest(statements, computeRequestDigest(request));
    case 'sign-in':
    case 'viewing-key':
    case 'disclosure':
      return undefined;
  }
}

export function findSpendByDigest({ get }: Statements, digest: string): StoredManifest | undefined {
  const row = get(
    `SELECT ${manifestColumns} FROM manifest WHERE digest = ? AND kind = 'spend'`,
    digest,
  );
  return row === undefined ? undefined : readManifestRow(row);
}

/** Batches of one total share their allowance. The one of the same deadline is meant, else the newest. */
function findAllowanceManifest(
  { all }: Statements,
  request: PermitSignRequest | TokenApprovalRequest,
): StoredManifest | undefined {
  const asked = readAllowance(request);
  if (asked === undefined) {
    return undefined;
  }
  const candidates = all(
    `SELECT ${manifestColumns} FROM manifest
     WHERE kind = 'fund' AND chain_id = ? AND token = ? AND funder = ? AND (total = ? OR ? = '0')
     ORDER BY file IS NULL, received_at_ms DESC`,
    asked.chainId,
    asked.token,
    request.expectedSigner,
    String(asked.value),
    String(asked.value),
  ).map(readManifestRow);
  const isExact = ({ pool, deadline }: StoredManifest): boolean =>
    pool === asked.spender && (asked.deadline === undefined || BigInt(deadline) === asked.deadline);
  return candidates.find(isExact) ?? candidates[0];
}

function readAllowance(request: PermitSignRequest | TokenApprovalRequest) {
  if (request.kind === 'permit') {
    const { domain, permit } = request.payload;
    const { spender, value, deadline } = permit;
    return { chainId: domain.chainId, token: domain.verifyingContract, spender, value, deadline };
  }
  const approval = readApproval(request.payload.unsignedTransaction);
  return approval === undefined ? undefined : { ...approval, deadline: undefined };
}
