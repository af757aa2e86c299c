/**
 * The look at the platform: does it answer to this agent's edge token, and can its relayer send? A relayer that
 * is stuck behind a platform that answers would otherwise be noticed only by batches that wait.
 *
 * @module
 */
import type { Bootstrap, RelayerHealth } from '@pool/core';
import { describeRelayerTrouble } from '@pool/operations';
import type { Probe } from './readiness.ts';

export type PlatformProbe = {
  readonly probe: Probe;
  /** What the platform said at the last look. Undefined: it said nothing, or did not answer. */
  readRelayer(chain: string): RelayerHealth | undefined;
};

/** `detail.kind` of a platform that answers and can send nothing. */
export const relayerDown = 'relayer_unavailable';

/**
 * @param bootstrap - answers only to a live edge token, so it tells more than a ping
 * @param chains - keys of the chains that this agent can pay on
 */
export function createPlatformProbe(
  bootstrap: () => Promise<Bootstrap>,
  chains: readonly string[],
): PlatformProbe {
  let relayers: Bootstrap['relayer'];

  const readRelayer = (chain: string): RelayerHealth | undefined =>
    relayers !== undefined && Object.hasOwn(relayers, chain) ? relayers[chain] : undefined;

  return {
    readRelayer,
    async probe() {
      try {
        relayers = (await bootstrap()).relayer;
      } catch (error) {
        relayers = undefined;
        throw error;
      }
      const troubles = chains.flatMap((chain) => {
        const trouble = describeRelayerTrouble(readRelayer(chain));
        return trouble === undefined ? [] : [`on chain ${chain} its relayer ${trouble}`];
      });
      if (troubles.length === 0) {
        return {
          ok: true,
          detail: { kind: 'reachable', message: 'the platform answers bootstrap' },
        };
      }
      // With one chain left, somebody can be paid: this agent stays in service.
      const ok = troubles.length < chains.length;
      const message = `the platform answers bootstrap; ${troubles.join('; ')}`;
      return { ok, detail: { kind: ok ? 'relayer_degraded' : relayerDown, message } };
    },
  };
}
