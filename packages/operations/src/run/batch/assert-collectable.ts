/**
 * Checks the funder's money before its key signs. An amount that the pool could not collect is not authorised, because an
 * authorisation that is out and cannot land delays its batch until it is withdrawn or expires.
 *
 * @module
 */
import { assertAmount, PoolError } from '@pool/core';
import { observeFunds } from '../../check/preflight.ts';
import type { Run } from '../job/run.ts';

/**
 * Reads the balance of the funder, and its coin if an approval transaction is needed. A chain that does not answer prevents
 * nothing: the contract decides.
 * @throws PoolError `insufficient_balance`, `insufficient_gas`
 */
export async function assertCollectable(run: Run): Promise<void> {
  const token = run.context.settings.tokens[run.record().tokenSymbol];
  if (token === undefined) {
    return;
  }
  const { findings } = await observeFunds(
    { context: run.context, token, total: assertAmount(run.total) },
    run.funder.address,
  );
  const defect = findings.find(
    ({ code }) => code === 'insufficient_balance' || code === 'insufficient_gas',
  );
  if (defect !== undefined) {
    const what =
      run.phase().kind === 'signed'
        ? 'the signed batch was not sent, and nothing was paid'
        : 'nothing was signed and nothing was paid';
    throw new PoolError(
      defect.code,
      `${defect.message}; ${what}: resubmit under a new Idempotency-Key once it is there`,
    );
  }
}
