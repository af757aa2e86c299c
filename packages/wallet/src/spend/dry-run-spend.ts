/**
 * A spend that is only tried: everything is checked and proved, and nothing is sent.
 *
 * @module
 */
import { bytesToBigint, type SpendReceipt } from '@pool/core';
import { checkSpend, type SpendRequestBody } from './check-spend.ts';
import { planNewSpend } from './plan-spend.ts';
import { proveSpend } from './prove-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

/** A request with the chain that its caller chose. */
export type RoutedRequest = SpendRequestBody & { readonly chain: string | undefined };

/** Proves the whole spend and stops. Stores nothing, locks nothing and never asks the signer. */
export async function performDryRun(
  request: RoutedRequest,
  deps: SpendDeps,
): Promise<SpendReceipt> {
  deps.onEvent({ kind: 'stage', stage: 'checking' });
  const checked = await checkSpend(request, deps, request.chain);
  const planned = await planNewSpend(checked, deps);
  if (deps.prover.mode === 'real') {
    // The circuit does not verify the signature, so any rSig proves as well. 31 random bytes are always below n.
    const rSig = bytesToBigint(deps.randomBytes(31)) + 1n;
    await proveSpend(checked.context, planned, rSig, deps);
  }
  const { inputNullifiers, changeAmount } = planned.manifest;
  return {
    operation: checked.operation,
    status: 'dry-run',
    nullifiers: [...inputNullifiers],
    changeAmount,
  };
}
