/**
 * The probe of the platform: does it accept this agent's edge token, and can its relayer send? Without the probe, a
 * stuck relayer behind an answering platform would show only as waiting batches, and a chain that the platform describes
 * differently only as refused batches.
 *
 * @module
 */
import type { Bootstrap, RelayerHealth } from '@pool/api';
import { edgeTokenRefused, explainPlatformFailure, platformInvalidResponse } from '@pool/core';
import { describeRelayerTrouble } from '@pool/operations';
import { createFinding, type Finding, type Probe } from './readiness.ts';

export type PlatformProbe = {
  readonly probe: Probe;
  /** The relayer's health at the last probe. Undefined: the platform reported none, or did not answer. */
  readRelayer(chain: string): RelayerHealth | undefined;
};

/** `detail.kind` of a platform that answers but cannot send. */
export const relayerDown = 'relayer_unavailable';

/** `detail.kind` when the agent can pay on none of its chains, for any state of the relayer. */
export const chainsInvalid = 'invalid-chain';

/**
 * @param bootstrap - answers only to a valid edge token, so it shows more than a ping
 * @param chains - keys of this agent's chains with a pool
 * @param findInvalidity - the reason why a request for this chain would be `invalid-chain`; undefined: it would not
 */
export function createPlatformProbe(
  bootstrap: () => Promise<Bootstrap>,
  chains: readonly string[],
  findInvalidity: (chain: string, answer: Bootstrap) => string | undefined,
): PlatformProbe {
  let relayers: Bootstrap['relayer'];

  const readRelayer = (chain: string): RelayerHealth | undefined =>
    relayers !== undefined && Object.hasOwn(relayers, chain) ? relayers[chain] : undefined;

  return {
    readRelayer,
    async probe() {
      let answer: Bootstrap;
      try {
        answer = await bootstrap();
      } catch (error) {
        relayers = undefined;
        return explain(error);
      }
      relayers = answer.relayer;
      const invalid = chains.flatMap((chain) => findInvalidity(chain, answer) ?? []);
      const payable = chains.filter((chain) => findInvalidity(chain, answer) === undefined);
      const troubles = payable.flatMap((chain) => {
        const trouble = describeRelayerTrouble(readRelayer(chain));
        return trouble === undefined ? [] : [`on chain ${chain} its relayer ${trouble}`];
      });
      const all = [...invalid, ...troubles];
      if (all.length === 0) {
        return createFinding(true, 'reachable', answers);
      }
      // One payable chain is enough for payments: this agent stays in service.
      const ok = troubles.length < payable.length;
      const message = `${answers}; ${all.join('; ')}`;
      if (payable.length === 0) {
        return createFinding(ok, chainsInvalid, message);
      }
      const kind = troubles.length > 0 ? 'relayer_degraded' : 'chain_invalid';
      return createFinding(ok, ok ? kind : relayerDown, message);
    },
  };
}

const answers = 'the platform answers bootstrap';

/** Explains failures that require an action. Readiness describes the others. */
function explain(error: unknown): Finding {
  const { code, message } = explainPlatformFailure(error, 'bootstrap', '');
  if (code === edgeTokenRefused || code === platformInvalidResponse) {
    return createFinding(false, code, message);
  }
  throw error;
}
