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
import type { PolicyPerson } from '../policy/policy-schema.ts';
import { appendAudit } from './audit.ts';
import type { Statements } from './table.ts';
import { appliedTable, policySignatureTable, policyTable } from './tables.ts';

/** The bytes of a policy file. */
type PolicyText = { readonly sha256: string; readonly text: string };

/** @param write - one transaction of the ledger */
export function createPolicyStore(statements: Statements, write: <T>(work: () => T) => T) {
  function listApplied(rest: string, ...values: (string | number)[]): readonly AppliedPolicy[] {
    return appliedTable.list(statements, rest, ...values).map(({ number, sha256 }) => {
      const { text = '' } = policyTable.find(statements, 'WHERE sha256 = ?', sha256) ?? {};
      return { number, sha256, text };
    });
  }

  /** The policy in effect. Undefined: no gate has started with this ledger. */
  function findApplied(): AppliedPolicy | undefined {
    return listApplied('ORDER BY number DESC LIMIT 1')[0];
  }

  /** Whether another file than that of the policy in effect is refused, although nobody has to sign it. */
  function isHeld(sha256: string, { number }: AppliedPolicy): boolean {
    // Its people signed that it ends.
    const earlier = listApplied('WHERE sha256 = ?', sha256);
    return (
      listApplied('WHERE number = ? AND awaits_file = 1', number).length > 0 ||
      earlier.some((one) => countRequiredPeople(parseAppliedPolicy(one)) > 0)
    );
  }

  function listSignatures(sha256: string): readonly PolicySignature[] {
    return policySignatureTable.list(statements, 'WHERE sha256 = ?', sha256);
  }

  /** Whether a policy with this digest was proposed or in effect. */
  function has(sha256: string): boolean {
    return policyTable.find(statements, 'WHERE sha256 = ?', sha256) !== undefined;
  }

  function putInEffect(
    sha256: string,
    { by, awaitsFile }: { readonly by: readonly string[]; readonly awaitsFile: boolean },
    atMs: number,
  ): void {
    const number = (findApplied()?.number ?? 0) + 1;
    appliedTable.write(statements, 'INSERT', { number, sha256, atMs, awaitsFile });
    appendAudit(statements, 'policy.applied', { sha256, number, by }, atMs);
  }

  return {
    findApplied,
    listSignatures,
    has,
    propose(policy: PolicyText, nowMs: number): void {
      const { sha256, text } = policy;
      write(() => {
        if (policyTable.write(statements, 'INSERT OR IGNORE', { sha256, text }) > 0) {
          appendAudit(statements, 'policy.proposed', { sha256 }, nowMs);
        }
      });
    },
    /** Stores a signature. `apply` verifies it. */
    sign(signature: PolicySignature, nowMs: number): void {
      const { sha256, number, publicKey } = signature;
      write(() => {
        if (policySignatureTable.write(statements, 'INSERT OR IGNORE', signature) > 0) {
          appendAudit(statements, 'policy.signed', { sha256, number, publicKey }, nowMs);
        }
      });
    },
    /**
     * Puts a proposed policy in effect.
     * @returns the people who signed it
     * @throws PoolError `policy_not_signed`
     */
    apply: (sha256: string, nowMs: number): readonly PolicyPerson[] =>
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
    /**
     * Takes the file that the gate reads, if it is in effect, or if the policy in effect asks nobody about its changes.
     * @throws PoolError `policy_not_signed`
     */
    adopt: ({ sha256, text }: PolicyText, nowMs: number): void =>
      write(() => {
        const applied = findApplied();
        if (applied?.sha256 === sha256) {
          statements.run('UPDATE policy_applied SET awaits_file = 0 WHERE awaits_file = 1');
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
        policyTable.write(statements, 'INSERT OR IGNORE', { sha256, text });
        putInEffect(sha256, { by: [], awaitsFile: false }, nowMs);
      }),
  };
}
