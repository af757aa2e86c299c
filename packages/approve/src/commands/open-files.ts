/**
 * What commands open beside the running gate: its ledger and its policy.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { PoolError } from '@pool/core';
import { type Ledger, openLedger } from '@pool/policy';
import { type GatePlaces, parseGatePlaces } from '../config/config.ts';
import { ledgerPath } from '../config/gate-home.ts';
import type { CommandContext, CommonOptions } from './output.ts';

/** Opens the ledger of the gate's directory for one piece of work. @throws PoolError `invalid_configuration` if there is none */
export async function withLedger<T>(
  { source }: CommandContext,
  { envFile }: CommonOptions,
  work: (ledger: Ledger, places: GatePlaces) => T | Promise<T>,
): Promise<T> {
  const places = parseGatePlaces(source, envFile);
  const path = ledgerPath(places.home);
  if (!existsSync(path)) {
    throw new PoolError(
      'invalid_configuration',
      `there is no ledger in ${places.home}; start the gate once, or set APPROVE_HOME to its directory`,
    );
  }
  const ledger = openLedger({ path, role: 'operator' });
  try {
    return await work(ledger, places);
  } finally {
    ledger.close();
  }
}
