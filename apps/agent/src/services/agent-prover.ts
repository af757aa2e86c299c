/**
 * The configured prover of an agent, and the reports about its device to the operator.
 *
 * @module
 */
import { join } from 'node:path';
import { createArtifactStore, type ProductionKeys, verificationKeys } from '@pool/circuits';
import type { CircuitName } from '@pool/core';
import type { Probe } from '@pool/operations';
import { createMockProver, createProver, type Prover, type ProverIncident } from '@pool/prover';
import type { Log } from '@pool/wallet/node';
import type { Config } from '../config/config.ts';
import { createFleetProver, type FleetProver } from './fleet/fleet-prover.ts';
import { openProofQueue } from './fleet/proof-queue.ts';

export function createConfiguredProver(
  config: Pick<Config, 'prover' | 'artifactsDir' | 'accelerator' | 'home'>,
  keys: ProductionKeys | undefined,
  log: Log,
): Prover<CircuitName> {
  return config.prover === 'mock'
    ? createMockProver<CircuitName>()
    : createProver<CircuitName>({
        artifacts:
          keys ?? createArtifactStore({ cacheDir: config.artifactsDir, keyForm: 'compact' }),
        accelerator: config.accelerator,
        cacheDir: join(config.home, 'cache'),
        onIncident: createIncidentLog(log),
      });
}

/** The provers on other machines, if the configuration names a queue. Spends are proved here all the same. */
export async function openFleet(
  { fleet, prover, artifactsManifest: manifest }: Config,
  keys: ProductionKeys | undefined,
  log: Log,
): Promise<FleetProver | undefined> {
  if (fleet === undefined || prover === 'mock') {
    return undefined;
  }
  const { queue: settings, publicKey: recipient } = fleet;
  return createFleetProver({
    queue: await openProofQueue({ settings, manifest, recipient, role: 'agent', log }),
    recipient,
    readVerificationKey: keys?.readVerificationKey ?? (async (name) => verificationKeys[name]),
    log,
  });
}

/** Messages of the prover contain names of the device and of key files and text of the driver, but no proof input. */
export function createIncidentLog(log: Log): (incident: ProverIncident) => void {
  return ({ code, message }) => {
    // An error, because proofs continue more slowly than planned and the operator must check the machine.
    const level = code === 'accelerator_retired' ? 'error' : 'warn';
    log[level]({ code }, message);
  };
}

/** Starts the engine if it is not running. A CPU counts as available: it only proves more slowly than a GPU. */
export function createAcceleratorProbe(prover: Pick<Prover<CircuitName>, 'ready'>): Probe {
  return async () => {
    const { kind, detail } = await prover.ready();
    return { ok: kind !== 'none', detail: { kind, message: detail } };
  };
}
