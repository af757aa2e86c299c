/**
 * The ledger as a decision reads it.
 *
 * @module
 */
import type { SQLInputValue } from 'node:sqlite';
import { fieldToHex } from '@pool/core';
import { computeSpendDigestId, parseBatchScope } from '../history/guard-id.ts';
import { type GuardEntry, lastOf } from '../history/ledger-history.ts';
import type { LedgerView, StoredManifest, UnknownRoster } from '../history/ledger-view.ts';
import { computeRequestDigest } from '../requests/request-digest.ts';
import type { PermitSignRequest, SignRequest, TokenApprovalRequest } from '../requests/requests.ts';
import { readApproval } from '../requests/token-approval.ts';
import type { Statements } from './table.ts';
import {
  countTable,
  guardTable,
  manifestTable,
  nullifierTable,
  payeeTable,
  pinTable,
  readManifest,
  releaseTable,
  rosterTable,
} from './tables.ts';

export function listManifests(
  statements: Statements,
  ...rest: [rest: string, ...values: SQLInputValue[]]
): readonly StoredManifest[] {
  return manifestTable.list(statements, ...rest).map(readManifest);
}

export function createView(statements: Statements): LedgerView {
  const { get } = statements;
  function sum(...rest: [rest: string, ...values: SQLInputValue[]]): bigint {
    return countTable.list(statements, ...rest).reduce((total, { amount }) => total + amount, 0n);
  }
  return {
    get isRestored() {
      return get('SELECT restored_because AS because FROM ledger')?.['because'] !== null;
    },
    findManifest: (manifestDigest) =>
      listManifests(statements, 'WHERE manifest_digest = ?', manifestDigest)[0],
    findBatch: (chainId, pool, funder, batchNonce) =>
      listManifests(
        statements,
        'WHERE batch_nonce = ? AND chain_id = ? AND pool = ? AND funder = ?',
        batchNonce,
        chainId,
        pool,
        funder,
      )[0],
    listAttempts: (employerId, jobKey) =>
      listManifests(
        statements,
        'WHERE employer_id = ? AND job_key = ? ORDER BY attempt',
        employerId,
        jobKey,
      ),
    findGuard: (id) => guardTable.find(statements, 'WHERE id = ?', id),
    findGuardByDigest: (kind, digest) =>
      guardTable.find(statements, 'WHERE kind = ? AND digest = ?', kind, digest),
    countGuards: (prefix) =>
      Number(
        get(
          'SELECT count(*) AS count FROM guard WHERE substr(id, 1, ?) = ?',
          prefix.length,
          prefix,
        )?.['count'],
      ),
    hasCounted: (guardId) =>
      countTable.find(statements, 'WHERE guard_id = ? LIMIT 1', guardId) !== undefined,
    countOf: (guardId, scope) =>
      countTable
        .list(statements, 'WHERE guard_id = ? AND scope = ?', guardId, scope)
        .reduce((most, { amount }) => lastOf(most, amount), 0n),
    sumOfDay: (scope, day) => sum('WHERE scope = ? AND day = ?', scope, day),
    sumSince: (scope, afterMs) => sum('WHERE scope = ? AND at_ms > ?', scope, afterMs),
    get newestAtMs() {
      const vote = get('SELECT max(decided_at_ms) AS at FROM vote')?.['at'];
      const guard = get('SELECT max(first_at_ms) AS at FROM guard')?.['at'];
      return Math.max(Number(vote ?? 0), Number(guard ?? 0));
    },
    findPin: (walletKey) => pinTable.find(statements, 'WHERE wallet_key = ?', walletKey),
    hasPaid: (payeeKey) => payeeTable.findSame(statements, { payeeKey }) !== undefined,
    listRosters: (rosterDigest) =>
      rosterTable.list(statements, 'WHERE roster_digest = ?', rosterDigest),
    listUnknownRosters: (afterMs) =>
      guardTable
        .list(
          statements,
          `WHERE kind = 'fund-authorization' AND first_at_ms > ? AND id NOT IN (SELECT guard_id FROM roster)`,
          afterMs,
        )
        .flatMap((guard) => listUnknownRosters(statements, guard)),
    listUnknownSpends: (holder, afterMs) =>
      guardTable.list(
        statements,
        `WHERE kind = 'spend' AND first_at_ms > ? AND (id = ? || digest OR id = ? || digest)
           AND digest NOT IN (SELECT digest FROM guard WHERE kind = 'spend' AND substr(id, 1, 6) = 'spend/')`,
        afterMs,
        computeSpendDigestId(undefined, ''),
        computeSpendDigestId(holder, ''),
      ),
    listNullifiers: (nullifiers) =>
      nullifiers.flatMap((nullifier) =>
        nullifierTable.list(statements, 'WHERE nullifier = ?', nullifier),
      ),
    listReleases: (rosterDigest) =>
      releaseTable.list(statements, 'WHERE roster_digest = ?', rosterDigest),
  };
}

/** Of each sum of a batch, or of none. The total of a conflicted guard is not known. */
function listUnknownRosters(
  statements: Statements,
  { id: guardId, isConflicted }: GuardEntry,
): readonly UnknownRoster[] {
  const counts = countTable.list(
    statements,
    "WHERE guard_id = ? AND substr(scope, 1, 5) = 'fund/'",
    guardId,
  );
  return counts.length === 0 || isConflicted
    ? [{ guardId, paid: undefined }]
    : counts.map(({ scope, amount: total }) => {
        const batch = parseBatchScope(scope);
        return { guardId, paid: batch === undefined ? undefined : { ...batch, total } };
      });
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

export function findSpendByDigest(
  statements: Statements,
  digest: string,
): StoredManifest | undefined {
  return listManifests(statements, `WHERE digest = ? AND kind = 'spend'`, digest)[0];
}

/** Batches of one total share their allowance. The one of the same deadline is meant, else the newest. */
function findAllowanceManifest(
  statements: Statements,
  request: PermitSignRequest | TokenApprovalRequest,
): StoredManifest | undefined {
  const asked = readAllowance(request);
  if (asked === undefined) {
    return undefined;
  }
  const candidates = listManifests(
    statements,
    `WHERE kind = 'fund' AND chain_id = ? AND token = ? AND funder = ? AND (total = ? OR ? = '0')
     ORDER BY file IS NULL, received_at_ms DESC`,
    asked.chainId,
    asked.token,
    request.expectedSigner,
    String(asked.value),
    String(asked.value),
  );
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
