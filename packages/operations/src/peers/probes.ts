/**
 * The probe of the platform: does it accept this agent's edge token, and can its relayer send? Without the probe, a
 * stuck relayer behind an answering platform would show only as waiting batches, and a chain that the platform describes
 * differently only as refused batches.
 *
 * @module
 */
import type { Bootstrap, RelayerHealth } from '@pool/api';
import {
  edgeTokenRefused,
  errorCodeOf,
  explainPlatformFailure,
  platformInvalidResponse,
} from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import {
  describeRelayerTrouble,
  findRelayerOutage,
  type PreflightFinding,
} from '../check/preflight.ts';
import type { ChainPort } from '../ports.ts';
import { withinTime } from '../within-time.ts';
import type { ReadinessCheck } from './readiness.ts';
import { createFinding, type Finding, type Probe, probeTimeoutMs } from './readiness.ts';
import { employerMismatch } from './tenancy.ts';

// For a dry run: the services on the way of a batch that cannot process it now (docs/decisions/0007).

type OutageDeps = {
  readonly check: (name: 'poolGate' | 'platform') => Promise<ReadinessCheck>;
  /** Without a gate the checks refuse every recipient, with their own reason. */
  readonly hasGate: () => boolean;
  /** The relayer's health at the last check of the platform. */
  readonly readRelayer: (chain: string) => RelayerHealth | undefined;
};

/** @param chain - undefined: the agent can pay on no chain, so no relayer is checked */
export async function findOutages(
  deps: OutageDeps,
  chain: string | undefined,
): Promise<readonly PreflightFinding[]> {
  const [platform, gate] = await Promise.all([
    deps.check('platform'),
    deps.hasGate() ? deps.check('poolGate') : undefined,
  ]);
  const findings: PreflightFinding[] = [];
  const { kind, message } = platform.detail;
  const answered = [employerMismatch, edgeTokenRefused, platformInvalidResponse] as const;
  const code = answered.find((known) => known === kind);
  if (!platform.ok && code !== undefined) {
    findings.push({ code, message });
  } else if (!platform.ok && kind !== relayerDown && kind !== chainsInvalid) {
    findings.push({
      code: 'platform_unreachable',
      message: `the platform, which settles the batch: ${message}`,
    });
  } else if (chain !== undefined) {
    const outage = findRelayerOutage(chain, deps.readRelayer(chain));
    findings.push(...(outage === undefined ? [] : [outage]));
  }
  if (gate !== undefined && !gate.ok) {
    findings.push({
      code: 'gate_unreachable',
      message: `the pool-gate, which confirms recipients: ${gate.detail.message}`,
    });
  }
  return findings;
}

// `chains` of readiness: does the RPC of each chain answer, and for the right chain? Every payment and every balance reads it.

/** Shorter than the time limit of the whole check, so that an answer can name which chain did not answer. */
const chainTimeoutMs = probeTimeoutMs - 200;

/** One chain that answers is enough to stay in service, as with relayers. */
export function createChainsProbe(
  contexts: ReadonlyMap<string, { readonly chain: Pick<ChainPort, 'fetchHeadTimestamp'> }>,
): Probe {
  return async () => {
    const answers = await Promise.all(
      [...contexts].map(async ([key, { chain }]) => {
        try {
          await withinTime(chain.fetchHeadTimestamp(), chainTimeoutMs);
          return undefined;
        } catch (error) {
          return errorCodeOf(error) === 'wrong_chain'
            ? `the RPC of chain ${key} serves another chain`
            : `the RPC of chain ${key} does not answer`;
        }
      }),
    );
    const troubles = answers.filter((trouble) => trouble !== undefined);
    if (contexts.size === 0) {
      return createFinding(true, 'none', 'chains.json has no chain with a pool');
    }
    if (troubles.length === 0) {
      return createFinding(true, 'reachable', 'the RPC of each chain answers');
    }
    const message = troubles.join('; ');
    return troubles.length < contexts.size
      ? createFinding(true, 'chain_degraded', message)
      : createFinding(false, 'chain_unreachable', message);
  };
}

/** The database that agents share. */
export function createStoreProbe(store: Pick<JobStore, 'get'>): Probe {
  return async () => {
    try {
      await store.get('', '');
      return createFinding(true, 'reachable', 'the shared database answers');
    } catch {
      const message = 'the database of DISBURSE_JOB_STORE does not answer, so nothing is accepted';
      return createFinding(false, 'unreachable', message);
    }
  };
}

export type PlatformProbe = {
  readonly probe: Probe;
  /** The relayer's health at the last probe. Undefined: the platform reported none, or did not answer. */
  readRelayer(chain: string): RelayerHealth | undefined;
};

/** `detail.kind` of a platform that answers but cannot send. */
const relayerDown = 'relayer_unavailable';

/** `detail.kind` when the agent can pay on none of its chains, for any state of the relayer. */
const chainsInvalid = 'invalid-chain';

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
