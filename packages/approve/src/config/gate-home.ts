/**
 * The gate's directory. It holds the ledger, which one gate opens as its voter. The commands of the operator open it beside the running
 * gate: every write is one immediate transaction, so no socket has to be guarded (docs/decisions/0014).
 *
 * @module
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Creates the directory if it is missing, and removes the access of other users. */
export function ensureGateHome(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
}

export function ledgerPath(home: string): string {
  return join(home, 'ledger.sqlite');
}
