/**
 * `POST /agent-edge/eligibility-paths` (docs/decisions/0010): the eligibility paths of payees, for holders whose wallet cannot call the
 * pool-gate. The holder verifies them against the chain, so this route passes on what the gate answers.
 *
 * @module
 */
import { edgeRoutes } from '@pool/api';
import { isPoolError, PoolError, parseField } from '@pool/core';
import { describeFailure, readJson, type Shell } from '@pool/http-server';
import type { GateClient } from '@pool/platform-client';
import { assertSpenderAdmitted } from '@pool/relayer';
import { isReaderRevoked } from '../accounts/gate-readers.ts';
import { type CallerDeps, identifyKey } from '../accounts/identify-caller.ts';
import { settlementCost } from '../http/rate-limit.ts';
import { assertServed, type BootstrapSettings } from './bootstrap.ts';

export type EligibilityGate = Pick<GateClient, 'paths'>;

export type EligibilityDeps = CallerDeps & {
  readonly bootstrap: Pick<BootstrapSettings, 'chains'>;
  /** Undefined: this deployment has no gate. */
  readonly gate: EligibilityGate | undefined;
};

export function addEligibilityRoute(app: Shell, deps: EligibilityDeps): void {
  const { db, bootstrap, gate, limits } = deps;

  app.post('/agent-edge/eligibility-paths', async (c) => {
    const { address, capability, employerId } = await identifyKey(deps, c);
    if (capability !== 'holder.transfer') {
      throw new PoolError(
        'forbidden',
        'this key does not reach eligibility paths; use a holder.transfer key',
      );
    }
    await limits.spends.take(address, settlementCost.request);
    // A stranger makes itself a key, and must not learn who is on the list.
    await assertSpenderAdmitted(deps, { address });
    if (await isReaderRevoked(db, employerId)) {
      throw new PoolError(
        'forbidden',
        'the operator of the platform has ended the access of this wallet to the pool-gate; ask the operator',
      );
    }
    const { chain, walletIds, root } = await readJson(c, edgeRoutes.findEligibilityPaths.body);
    assertServed(bootstrap, chain);
    for (const word of [root, ...walletIds]) {
      parseField(word);
    }
    if (gate === undefined) {
      throw new PoolError('no_gate', 'this platform has no pool-gate, so no wallet is eligible');
    }
    try {
      return c.json(await gate.paths(walletIds, root));
    } catch (error) {
      const failure = explainGateFailure(error);
      if (failure.code === 'gate_unauthorized' || failure.code === 'gate_invalid_response') {
        c.get('log').warn({ ...describeFailure(error) }, 'the gate was not read for a holder');
      }
      throw failure;
    }
  });
}

/** What the gate says of a root, which the holder can act on. */
const rootCodes = ['eligibility_root_too_old', 'eligibility_root_unknown'] as const;

/** A failure as this route answers it. The gate's refusals of a credential are about the platform's, never about the holder's. */
function explainGateFailure(cause: unknown): PoolError {
  if (!isPoolError(cause)) {
    return new PoolError('gate_unreachable', 'the pool-gate could not be read', { cause });
  }
  const rootCode = rootCodes.find((code) => code === cause.code);
  if (rootCode !== undefined) {
    return new PoolError(rootCode, cause.message, { cause });
  }
  if (cause.code === 'gate_unauthorized' || cause.status === 401 || cause.status === 403) {
    return new PoolError(
      'gate_unauthorized',
      'the pool-gate refuses the credential of this platform; tell its operator',
      { cause },
    );
  }
  return cause.retryable && cause.code !== 'gate_invalid_response'
    ? new PoolError('gate_unreachable', 'the pool-gate does not answer now; try again', { cause })
    : new PoolError('gate_invalid_response', 'the pool-gate gave an answer that does not fit', {
        cause,
      });
}
