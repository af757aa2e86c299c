/**
 * Reads the allowance before proving. The result is advisory: it is reported as read and never read again.
 *
 * @module
 */
import type { AllowanceState, EvmAddress } from '@pool/core';
import type { ChainPort } from '../ports.ts';
import { withinTime } from '../within-time.ts';

/** How long a batch waits for this advisory read. */
const readTimeoutMs = 3_000;

/** Never throws. A chain that does not answer makes the state `unknown`, and the batch is proved anyway. */
export async function observeAllowance(input: {
  readonly chain: Pick<ChainPort, 'fetchAllowance'>;
  readonly token: EvmAddress;
  readonly funder: EvmAddress;
  readonly total: bigint;
}): Promise<AllowanceState> {
  try {
    const allowance = await withinTime(
      input.chain.fetchAllowance(input.token, input.funder),
      readTimeoutMs,
    );
    return allowance >= input.total ? 'sufficient' : 'insufficient';
  } catch {
    return 'unknown';
  }
}
