/**
 * The new baseline of a ledger that was restored from a backup.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { PoolError } from '@pool/core';
import { acceptLoss, openLedger, parseAppliedPolicy } from '@pool/policy';
import type { GateConfig } from '../config/config.ts';
import { ensureGateHome, ledgerPath } from '../config/gate-home.ts';
import { readChainsFile, readPolicyFile } from '../config/settings-files.ts';
import { createHistoryCheck, type UnknownApproval } from '../examine/history.ts';
import { connectCustodian } from './transport.ts';

export type Rebaseline = {
  /** Who decides it, for the audit log. */
  readonly by: string;
  /** How many approvals that cannot be described are accepted as lost. */
  readonly acceptUnknown: number;
  /** Ed25519 key of a person of the policy in effect, who signs that they are. */
  readonly personKey?: KeyObject | undefined;
  readonly nowMs: () => number;
};

export type RebaselineResult = {
  /** That the custodian shows. */
  readonly approvals: number;
  /** Those of them that the ledger keeps: not permits and token approvals. */
  readonly guards: number;
  readonly unknown: readonly UnknownApproval[];
};

/** How many are named in a message. */
const maxNamed = 10;

/**
 * Reads everything that the custodian remembers of the gate's approvals, merges it into the ledger, and ends the state "restored". The
 * gate may run.
 * @throws PoolError `custodian_invalid_response` if it shows none, or its list is cut; `invalid_release` if it shows approvals that cannot
 *   be described, and not exactly so many are accepted, or no person of the policy signs it. What can be described is merged; the ledger still
 *   counts as restored
 */
export async function rebaselineLedger(
  config: GateConfig,
  { by, acceptUnknown, personKey, nowMs }: Rebaseline,
): Promise<RebaselineResult> {
  const { policy } = readPolicyFile(config.policyFile);
  const chains = readChainsFile(config.chainsFile);
  ensureGateHome(config.home);
  const ledger = openLedger({ path: ledgerPath(config.home), role: 'operator' });
  try {
    const { history: source } = connectCustodian({ config, chains, policy: () => policy, nowMs });
    const check = createHistoryCheck({ source, ledger, policy: () => policy });
    const { history, approvals, unknown } = await check.readAll();
    const ids = unknown.map(({ id }) => id);
    // Whoever writes the file could list a key of their own, so the people of the policy in effect count.
    const applied = ledger.policies.findApplied();
    const inEffect = applied === undefined ? policy : parseAppliedPolicy(applied);
    const accepted =
      unknown.length > 0 && unknown.length === acceptUnknown && personKey !== undefined
        ? acceptLoss(ids, inEffect, personKey, nowMs())
        : undefined;
    const isExplained = unknown.length === 0 ? acceptUnknown === 0 : accepted !== undefined;
    const isComplete = approvals > 0 && isExplained;
    if (!ledger.rebaseline(history, { by, isComplete, accepted }, nowMs())) {
      throw approvals === 0 ? createEmpty() : createIncomplete(unknown);
    }
    return { approvals, guards: history.guards.length, unknown };
  } finally {
    ledger.close();
  }
}

function createEmpty(): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    "the custodian shows no approval of this gate, so the ledger still counts as restored; check which user the gate's settings name, and that this user may read the history. A gate that never voted starts with a new APPROVE_HOME",
  );
}

function createIncomplete(unknown: readonly UnknownApproval[]): PoolError {
  if (unknown.length === 0) {
    return new PoolError(
      'invalid_release',
      'every approval that the custodian shows can be described, so none has to be accepted; run the command again without --accept-unknown',
    );
  }
  const named = unknown.slice(0, maxNamed).map(({ id, why }) => `${id}: ${why}`);
  const more = unknown.length > maxNamed ? `; and ${unknown.length - maxNamed} more` : '';
  return new PoolError(
    'invalid_release',
    `the custodian shows ${unknown.length} approvals of this gate that cannot be described, so the ledger still counts as restored; the others were merged. ${named.join('; ')}${more}. If a wallet is missing, list it in the policy. If you know that none of them can be used again, run the command again with --accept-unknown ${unknown.length} and --key-file, the key of a person in humanRelease of the policy in effect, who signs it`,
  );
}
