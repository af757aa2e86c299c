/**
 * The new baseline of a ledger that was restored from a backup.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { openLedger } from '@pool/policy';
import type { GateConfig } from '../config/config.ts';
import { ensureGateHome, ledgerPath } from './gate-home.ts';
import { createHistoryCheck } from './history.ts';
import { readChainsFile, readPolicyFile } from './settings-files.ts';
import { createHistorySource } from './transport.ts';

/**
 * Reads everything that the custodian remembers of the gate's approvals, merges it into the ledger, and ends the state "restored". The
 * gate may run.
 * @param by - who decides it, for the audit log
 * @returns how many approvals the custodian shows
 * @throws PoolError `custodian_invalid_response` if it shows none, or its list is cut; the ledger stays as it is
 */
export async function rebaselineLedger(
  config: GateConfig,
  by: string,
  nowMs: () => number,
): Promise<number> {
  const { policy } = readPolicyFile(config.policyFile);
  const chains = readChainsFile(config.chainsFile);
  ensureGateHome(config.home);
  const ledger = openLedger({ path: ledgerPath(config.home), role: 'operator' });
  try {
    const source = createHistorySource({ config, chains, nowMs });
    const check = createHistoryCheck({ source, ledger, policy: () => policy });
    const { history, approvals } = await check.readAll();
    if (!ledger.rebaseline(history, { by, isComplete: approvals > 0 }, nowMs())) {
      throw new PoolError(
        'custodian_invalid_response',
        "the custodian shows no approval of this gate, so the ledger still counts as restored; check which user the gate's settings name, and that this user may read the history. A gate that never voted starts with a new APPROVE_HOME",
      );
    }
    return history.guards.length;
  } finally {
    ledger.close();
  }
}
