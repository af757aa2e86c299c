/**
 * The parts that a running agent and a dry run share: clock, chains, platform, gate, funder, and the checks that use
 * them.
 *
 * @module
 */

import type { Bootstrap } from '@pool/api';
import { readChainsFile } from '@pool/configuration';
import {
  type ChainContext,
  type CustodyProbe,
  createChainsProbe,
  createEvmChain,
  createFinding,
  createFunder,
  createGateSource,
  createOwnersDesk,
  createPlatformProbe,
  type EvmChain,
  type FunderPort,
  findKeySource,
  findOutages,
  type GateSource,
  type OwnersChain,
  type OwnersPlace,
  type PaidKeys,
  type Probe,
  probeTimeoutMs,
  type ReadinessCheck,
  refuseOtherPool,
  routeChain,
  type ValidateDeps,
} from '@pool/operations';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { createLocalEd25519Funder, type Ed25519Funder } from '@pool/signers';
import { createEvidenceVerifier, type EvidencePins } from '@pool/wallet';
import { systemClock } from '@pool/wallet/node';
import type { Config } from '../config/config.ts';
import {
  createFunderSigner,
  createSignerProbe,
  isHolderOnly,
  listCustodyProbes,
} from './signers/custody-probes.ts';
import { assertHolderAgrees } from './signers/holder-places.ts';
import { openDesk } from './signers/owners-place.ts';

export type AgentParts = {
  readonly contexts: ReadonlyMap<string, ChainContext>;
  readonly edge: EdgeClient;
  readonly gates: GateSource;
  readonly funder: FunderPort | undefined;
  /** Where the owners of the contract wallet that pays are asked. */
  readonly owners: OwnersPlace | undefined;
  /** Signers outside this process, and the approve process. */
  readonly custody: readonly CustodyProbe[];
  /** The probes of readiness, except the accelerator's. */
  readonly probes: Readonly<Record<'signer' | 'poolGate' | 'platform' | 'chains', Probe>>;
  createValidation(input: ValidationInput): ValidateDeps;
  close(): void;
};

export type ValidationInput = {
  /** @throws PoolError 503 while the employer of this agent is not known */
  readonly bootstrap: () => Bootstrap;
  readonly pins: EvidencePins;
  readonly paidKeys: Pick<PaidKeys, 'findAll'>;
  readonly check: (name: 'poolGate' | 'platform') => Promise<ReadinessCheck>;
  readonly forecastRelease: ValidateDeps['forecastRelease'];
};

export async function createParts(config: Config): Promise<AgentParts> {
  const chainsFile = readChainsFile(config.chainsFile);
  assertHolderAgrees(config.holder, chainsFile);
  const chains = new Map<string, OwnersChain & { readonly chain: EvmChain }>();
  const contexts = new Map<string, ChainContext>();
  for (const [key, settings] of Object.entries(chainsFile.chains)) {
    const chain = createEvmChain(settings, findKeySource(config));
    chains.set(key, { settings, chain });
    contexts.set(key, { key, settings, chain });
  }
  const edgeOptions = { url: config.platformUrl, token: config.platformToken };
  const edge = createEdgeClient(edgeOptions);
  const gates = createGateSource(config.gate);
  const desk =
    config.remoteFunder?.kind === 'contract_wallet' ? openDesk(config, chains) : undefined;
  const signer = createFunderSigner(config, chainsFile, desk && createOwnersDesk(desk.place));
  const funder = signer && (await createFunder(signer));
  const ed25519Funder = createConfiguredEd25519Funder(config);
  const probing = createEdgeClient({ ...edgeOptions, timeoutMs: probeTimeoutMs });
  const platform = createPlatformProbe(
    () => probing.bootstrap(),
    [...contexts.keys()],
    (key, bootstrap) => {
      const route = routeChain(key, {
        contexts,
        bootstrap,
        defaultChain: undefined,
        // The probe of the signer reports a missing signer.
        signerCurves: ['secp256k1', 'ed25519'],
        addressOnlyChains: chainsFile.addressOnlyChains,
      });
      return route.kind === 'invalid' ? route.reason : undefined;
    },
  );
  return {
    contexts,
    edge,
    gates,
    funder,
    owners: desk?.place,
    custody: listCustodyProbes(config, () => chainsFile),
    probes: {
      ...createProbes(gates, createSignerProbe(config, chainsFile), needsGate(config)),
      platform: platform.probe,
      chains: createChainsProbe(contexts),
    },
    createValidation: ({ bootstrap, pins, paidKeys, check, forecastRelease }) => ({
      forecastRelease,
      checks: {
        routeChain: (key) => {
          const route = routeChain(key, {
            contexts,
            bootstrap: bootstrap(),
            defaultChain: config.chain,
            signerCurves: [
              ...(funder === undefined ? [] : (['secp256k1'] as const)),
              ...(ed25519Funder?.capabilities.curves ?? []),
            ],
            addressOnlyChains: chainsFile.addressOnlyChains,
          });
          return refuseOtherPool(route, probeTimeoutMs);
        },
        platform: edge,
        evidence: createEvidenceVerifier({
          domain: chainsFile.evidence,
          pins,
          nowMs: systemClock.nowMs,
        }),
        paidKeys,
        get hasGate() {
          return gates.isConfigured();
        },
      },
      funder: funder?.address,
      approvesOutside: funder?.approvesOutside === true,
      findOutages: (chain) =>
        findOutages(
          { check, hasGate: () => gates.isConfigured(), readRelayer: platform.readRelayer },
          chain,
        ),
    }),
    close() {
      // Nothing waits for it: its entries are on disk.
      void desk?.close();
      for (const { chain } of chains.values()) {
        chain.close();
      }
    },
  };
}

function createConfiguredEd25519Funder({ funderEd25519Key }: Config): Ed25519Funder | undefined {
  return funderEd25519Key === undefined
    ? undefined
    : // chains.json cannot name a pool on these chains yet, so the key signs nothing (docs/decisions/0015).
      createLocalEd25519Funder({ seed: funderEd25519Key, allow: { pools: [] } });
}

/** Withdrawals and the balance need no gate. */
function needsGate(config: Config): boolean {
  return !isHolderOnly(config) || config.holder.transferToken !== undefined;
}

function createProbes(
  gates: GateSource,
  probeSigner: Probe,
  isGateNeeded: boolean,
): Pick<AgentParts['probes'], 'signer' | 'poolGate'> {
  return {
    signer: probeSigner,
    poolGate: async () => {
      if (!isGateNeeded) {
        return createFinding(
          true,
          'not_needed',
          'this agent makes no payment that needs a pool-gate',
        );
      }
      if (!gates.isConfigured()) {
        return createFinding(
          false,
          'none',
          'no pool-gate is configured or vended: no payment is possible',
        );
      }
      await gates.probe();
      return createFinding(true, 'reachable', 'the pool-gate serves its root');
    },
  };
}
