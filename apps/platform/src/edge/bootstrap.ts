/**
 * `POST /agent-edge/bootstrap`: the settings that an agent may take from its platform. The chain settings are
 * repeated for comparison only; the agent's own settings decide (ARCHITECTURE.md, "The authority for each fact").
 *
 * @module
 */
import type { Bootstrap, RelayerHealth } from '@pool/api';
import { batchSizes, type EvmChainSettings, PoolError, type Secret } from '@pool/core';
import type { Employer } from '../employers/employers.ts';
import type { VendedReader } from './vend-readers.ts';

export type GateAccessConfig = {
  /** Whether each employer gets a reader of its own. False with a shared reader, and where tokens come from elsewhere. */
  readonly makesReaders: boolean;
  readonly url: string;
  readonly tokenUrl: string;
  readonly writer: { readonly clientId: string; readonly clientSecret: Secret };
  /** One for the agents of all employers, vended at bootstrap. Absent: see `makesReaders`. */
  readonly reader: { readonly clientId: string; readonly clientSecret: Secret } | undefined;
};

export type BootstrapSettings = {
  readonly defaultChain: string;
  readonly chains: Readonly<Record<string, EvmChainSettings>>;
  readonly gate: GateAccessConfig | undefined;
  /** The employer's own reader of the gate; undefined: none can be vended now. Absent: this platform makes no readers. */
  readonly vendReader?: (employerId: string) => Promise<VendedReader | undefined>;
  /** The last findings of the relayer's worker for a chain key; undefined: none yet. Sends no request. */
  readonly readRelayerHealth: (chain: string) => RelayerHealth | undefined;
  /** Why nothing new is accepted on a chain. Undefined: it is open. Sends no request. */
  readonly findClosed: (chain: string) => PoolError | undefined;
};

const largestBatch = Math.max(...batchSizes);

/** @param own - the employer's reader of the gate; a configured shared one takes precedence */
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
    chains: describeChains(settings),
    maxRecipients: Object.fromEntries(
      chains.map(([key, { maxRecipients }]) => [key, Math.min(maxRecipients, largestBatch)]),
    ),
    ...(settings.gate === undefined ? {} : { gate: describeGate(settings.gate, own) }),
    relayer: Object.fromEntries(
      chains.flatMap(([key]) => {
        const closed = settings.findClosed(key);
        const health =
          closed === undefined ? settings.readRelayerHealth(key) : { ok: false, code: closed.code };
        return health === undefined ? [] : [[key, health]];
      }),
    ),
  };
}

/** The pools and tokens of the deployment, by chain key. */
export function describeChains({ chains }: Pick<BootstrapSettings, 'chains'>): Bootstrap['chains'] {
  return Object.fromEntries(
    Object.entries(chains).map(([key, { chainId, pool, registry, tokens }]) => [
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
  );
}

/** @throws PoolError `invalid-chain` (400) */
export function assertServed(
  { chains }: Pick<BootstrapSettings, 'chains'>,
  chain: string,
): EvmChainSettings {
  const settings = Object.hasOwn(chains, chain) ? chains[chain] : undefined;
  if (settings === undefined) {
    throw new PoolError('invalid-chain', 'this platform serves no chain of that key');
  }
  return settings;
}

/** @throws PoolError why the chain is closed (503) */
export function assertOpen(
  { findClosed }: Pick<BootstrapSettings, 'findClosed'>,
  chain: string,
): void {
  const closed = findClosed(chain);
  if (closed !== undefined) {
    throw closed;
  }
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
