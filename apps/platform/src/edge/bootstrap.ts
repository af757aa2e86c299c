/**
 * `POST /agent-edge/bootstrap`: what an agent may take over from its platform. The chain settings are
 * repeated for comparison only; an agent's own decide (ARCHITECTURE.md, "The authority for each fact").
 *
 * @module
 */
import type { Bootstrap, RelayerHealth } from '@pool/api';
import { batchSizes, type EvmChainSettings } from '@pool/core';
import type { Employer } from '../accounts/employers.ts';
import type { GateAccessConfig } from '../config.ts';
import type { VendedReader } from './vend-readers.ts';

export type BootstrapSettings = {
  readonly defaultChain: string;
  readonly chains: Readonly<Record<string, EvmChainSettings>>;
  readonly gate: GateAccessConfig | undefined;
  /** The employer's own reader of the gate; undefined: nothing to vend now. Absent: readers are not made here. */
  readonly vendReader?: (employerId: string) => Promise<VendedReader | undefined>;
  /** What the relayer's worker saw last, for a chain key; undefined: nothing yet. Asks nobody. */
  readonly readRelayerHealth: (chain: string) => RelayerHealth | undefined;
};

const largestBatch = Math.max(...batchSizes);

/** @param own - the employer's reader of the gate; a shared one that is configured goes before it */
export function describeBootstrap(
  employer: Employer,
  settings: BootstrapSettings,
  own?: VendedReader,
): Bootstrap {
  const chains = Object.entries(settings.chains);
  return {
    employerId: employer.id,
    employerAddress: employer.address,
    chain: settings.defaultChain,
    chains: Object.fromEntries(
      chains.map(([key, { chainId, pool, registry, tokens }]) => [
        key,
        {
          chainId,
          pool,
          registry,
          tokens: Object.fromEntries(
            Object.entries(tokens).map(([symbol, { address }]) => [symbol, address]),
          ),
        },
      ]),
    ),
    maxRecipients: Object.fromEntries(
      chains.map(([key, { maxRecipients }]) => [key, Math.min(maxRecipients, largestBatch)]),
    ),
    ...(settings.gate === undefined ? {} : { gate: describeGate(settings.gate, own) }),
    relayer: Object.fromEntries(
      chains.flatMap(([key]) => {
        const health = settings.readRelayerHealth(key);
        return health === undefined ? [] : [[key, health]];
      }),
    ),
  };
}

function describeGate(
  { url, tokenUrl, reader: shared }: GateAccessConfig,
  own: VendedReader | undefined,
): Bootstrap['gate'] {
  const reader = shared ?? own;
  return {
    url,
    ...(reader === undefined
      ? {}
      : {
          oauth: {
            tokenUrl,
            clientId: reader.clientId,
            clientSecret: reader.clientSecret.reveal(),
            scope: 'gate.read',
          },
        }),
  };
}
