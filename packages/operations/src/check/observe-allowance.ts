/**
 * The advisory look at the allowance before proving, reported as seen and never recomputed.
 *
 * @module
 */
import type { AllowanceState, EvmAddress } from '@pool/core';
import type { ChainPort } from '../ports.ts';
import { withinTime } from '../within-time.ts';

/** How long a chain may take for a look that only informs: a batch does not wait for it any longer. */
const lookTimeoutMs = 3_000;

/** Never throws: a chain that does not answer makes the state `unknown`, and the batch proves anyway. */
export async function observeAllowance(input: {
  readonly chain: Pick<ChainPort, 'fetchAllowance'>;
  readonly token: EvmAddress;
  readonly funder: EvmAddress;
  readonly total: bigint;
}): Promise<AllowanceState> {
  try {
    const allowance = await withinTime(
      input.chain.fetchAllowance(input.token, input.funder),
      lookTimeoutMs,
    );
    return allowance >= input.total ? 'sufficient' : 'insufficient';
  } catch {
    return 'unknown';
  }
}
