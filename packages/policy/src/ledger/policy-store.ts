/**
 * The policies of the ledger: what was proposed, who signed it, and what is in effect. A policy that asks people about its own changes is
 * followed only by one that they signed.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  type AppliedPolicy,
  countRequiredPeople,
  listPolicySigners,
  type PolicySignature,
  parseAppliedPolicy,
} from '../policy/policy-change.ts';
import { appendAudit } from './audit.ts';
import type { PolicyStore } from './ledger.ts';
import type { Row } from './rows.ts';
import type { Statements } from './statements.ts';

/** @param write - one transaction of the ledger */
export function createPolicyStore(
  statements: Statements,
  write: <T>(work: () => T) => T,
): PolicyStore {
  const { get, all, run } = statements;

  function findApplied(): AppliedPolicy | undefined {
    const row = get(
      'SELECT number, sha256, text FROM policy_applied JOIN policy USING (sha256) ORDER BY number DESC LIMIT 1',
    );
    return row === undefined ? undefined : readApplied(row);
  }

  /** Whether the file is the one before the policy in effect, and its people signed that it ends. */
  function isReplaced(sha256: string, { number }: AppliedPolicy): boolean {
    const row = get(
      'SELECT number, sha256, text FROM policy_applied JOIN policy USING (sha256) WHERE number = ?',
      number - 1,
    );
    const before = row === undefined ? undefined : readApplied(row);
    return before?.sha256 === sha256 && countRequiredPeople(parseAppliedPolicy(before)) > 0;
  }

  function listSignatures(sha256: string): readonly PolicySignature[] {
    return all('SELECT * FROM policy_signature WHERE sha256 = ?', sha256).map(readSignature);
  }

  function has(sha256: string): boolean {
    return get('SELECT 1 FROM policy WHERE sha256 = ?', sha256) !== undefined;
  }

  function keep(sha256: string, text: string): boolean {
    return run('INSERT OR IGNORE INTO policy (sha256, text) VALUES (?, ?)', sha256, text) > 0;
  }

  function putInEffect(sha256: string, by: readonly string[], nowMs: number): void {
    const number = (findApplied()?.number ?? 0) + 1;
    run(
      'INSERT INTO policy_applied (number, sha256, at_ms) VALUES (?, ?, ?)',
      number,
      sha256,
      nowMs,
    );
    appendAudit(statements, 'policy.applied', { sha256, number, by }, nowMs);
  }

  return {
    findApplied,
    listSignatures,
    has,
    propose: ({ sha256, text }, nowMs) =>
      write(() => {
        if (keep(sha256, text)) {
          appendAudit(statements, 'policy.proposed', { sha256 }, nowMs);
        }
      }),
    sign: (signature, nowMs) =>
      write(() => {
        const { sha256, previous, number, issuedAt, publicKey } = signature;
        const isFirst = run(
          'INSERT OR IGNORE INTO policy_signature (sha256, previous, number, issued_at, public_key, signature) VALUES (?, ?, ?, ?, ?, ?)',
          sha256,
          previous,
          number,
          issuedAt,
          publicKey,
          signature.signature,
        );
        if (isFirst > 0) {
          appendAudit(statements, 'policy.signed', { sha256, number, publicKey }, nowMs);
        }
      }),
    apply: (sha256, nowMs) =>
      write(() => {
        const applied = findApplied();
        if (applied === undefined || !has(sha256)) {
          throw new PoolError(
            'policy_not_signed',
            applied === undefined
              ? 'no policy is in effect; start the gate once'
              : 'no policy with this digest was proposed; run "policy propose" with its file',
          );
        }
        const signers = listPolicySigners(listSignatures(sha256), sha256, applied, nowMs);
        const required = countRequiredPeople(parseAppliedPolicy(applied));
        if (signers.length < required) {
          throw new PoolError(
            'policy_not_signed',
            `${signers.length} of ${required} people of the policy in effect signed this one; "policy sign" adds a signature`,
          );
        }
        putInEffect(
          sha256,
          signers.map(({ name }) => name),
          nowMs,
        );
        return signers;
      }),
    adopt: ({ sha256, text }, nowMs) =>
      write(() => {
        const applied = findApplied();
        if (applied?.sha256 === sha256) {
          return;
        }
        if (applied !== undefined && countRequiredPeople(parseAppliedPolicy(applied)) > 0) {
          throw new PoolError(
            'policy_not_signed',
            `the file (sha256 ${sha256}) is not the policy in effect (sha256 ${applied.sha256}), which changes only by signatures of its people: put that file back, or run "policy propose", "sign" and "apply"`,
          );
        }
        // Otherwise a restart before the operator installs the signed file brings the earlier one back.
        if (applied !== undefined && isReplaced(sha256, applied)) {
          throw new PoolError(
            'policy_not_signed',
            `the signed policy (sha256 ${applied.sha256}) is in effect, and the file (sha256 ${sha256}) is the one before it; install its file, or run "policy propose" and "policy apply" with the earlier one`,
          );
        }
        keep(sha256, text);
        putInEffect(sha256, [], nowMs);
      }),
  };
}

function readApplied(row: Row): AppliedPolicy {
  return {
    number: Number(row['number']),
    sha256: String(row['sha256']),
    text: String(row['text']),
  };
}

function readSignature(row: Row): PolicySignature {
  return {
    sha256: String(row['sha256']),
    previous: String(row['previous']),
    number: Number(row['number']),
    issuedAt: String(row['issued_at']),
    publicKey: String(row['public_key']),
    signature: String(row['signature']),
  };
}
