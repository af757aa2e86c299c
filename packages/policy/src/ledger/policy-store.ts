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
} from '../people/policy-change.ts';
import { appendAudit } from './audit.ts';
import type { PolicyStore } from './ledger.ts';
import type { Row, Statements } from './statements.ts';
import { policySignatureTable } from './tables.ts';

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

  /** Whether another file than that of the policy in effect is refused, although nobody has to sign it. */
  function isHeld(sha256: string, { number }: AppliedPolicy): boolean {
    const awaited = get(
      'SELECT 1 FROM policy_applied WHERE number = ? AND awaits_file = 1',
      number,
    );
    // Its people signed that it ends.
    const earlier = all(
      'SELECT number, sha256, text FROM policy_applied JOIN policy USING (sha256) WHERE sha256 = ?',
      sha256,
    ).map(readApplied);
    return (
      awaited !== undefined ||
      earlier.some((one) => countRequiredPeople(parseAppliedPolicy(one)) > 0)
    );
  }

  function listSignatures(sha256: string): readonly PolicySignature[] {
    return policySignatureTable.list(statements, 'WHERE sha256 = ?', sha256);
  }

  function has(sha256: string): boolean {
    return get('SELECT 1 FROM policy WHERE sha256 = ?', sha256) !== undefined;
  }

  function keep(sha256: string, text: string): boolean {
    return run('INSERT OR IGNORE INTO policy (sha256, text) VALUES (?, ?)', sha256, text) > 0;
  }

  function putInEffect(
    sha256: string,
    { by, awaitsFile }: { readonly by: readonly string[]; readonly awaitsFile: boolean },
    nowMs: number,
  ): void {
    const number = (findApplied()?.number ?? 0) + 1;
    run(
      'INSERT INTO policy_applied (number, sha256, at_ms, awaits_file) VALUES (?, ?, ?, ?)',
      number,
      sha256,
      nowMs,
      awaitsFile ? 1 : 0,
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
        const { sha256, number, publicKey } = signature;
        const isFirst = policySignatureTable.write(statements, 'INSERT OR IGNORE', signature);
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
        putInEffect(sha256, { by: signers.map(({ name }) => name), awaitsFile: true }, nowMs);
        return signers;
      }),
    adopt: ({ sha256, text }, nowMs) =>
      write(() => {
        const applied = findApplied();
        if (applied?.sha256 === sha256) {
          run('UPDATE policy_applied SET awaits_file = 0 WHERE awaits_file = 1');
          return;
        }
        if (applied !== undefined && countRequiredPeople(parseAppliedPolicy(applied)) > 0) {
          throw new PoolError(
            'policy_not_signed',
            `the file (sha256 ${sha256}) is not the policy in effect (sha256 ${applied.sha256}), which changes only by signatures of its people: put that file back, or run "policy propose", "sign" and "apply"`,
          );
        }
        // Otherwise a restart before the operator installs the signed file brings an earlier one back.
        if (applied !== undefined && isHeld(sha256, applied)) {
          throw new PoolError(
            'policy_not_signed',
            `the policy with sha256 ${applied.sha256} is in effect, and the file (sha256 ${sha256}) is another one; install its file, or run "policy propose" and "policy apply" with this one`,
          );
        }
        keep(sha256, text);
        putInEffect(sha256, { by: [], awaitsFile: false }, nowMs);
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
