/**
 * The prover of an agent as its configuration asks for it, and what the operator hears of the device that it runs on.
 *
 * @module
 */
import { join } from 'node:path';
import { type CircuitName, createArtifactStore, type ProductionKeys } from '@pool/circuits';
import { createMockProver, createProver, type Prover, type ProverIncident } from '@pool/prover';
import type { Config } from '../config/config.ts';
import type { AgentLog } from './agent-log.ts';
import type { Probe } from './readiness.ts';

export function createConfiguredProver(
  config: Config,
  keys: ProductionKeys | undefined,
  log: AgentLog,
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

/** Messages of the prover hold the names of the device and of the key's file, and the driver's words; no input. */
export function createIncidentLog(log: AgentLog): (incident: ProverIncident) => void {
  return ({ code, message }) => {
    // Payments go on, slower than the operator counts on: somebody has to look at the machine.
    const level = code === 'accelerator_retired' ? 'error' : 'warn';
    log[level]({ code }, message);
  };
}

/** Starts the engine if nothing has yet. A processor proves as well as a graphics card, only slower. */
export function createAcceleratorProbe(prover: Pick<Prover<CircuitName>, 'ready'>): Probe {
  return async () => {
    const { kind, detail } = await prover.ready();
    return { ok: kind !== 'none', detail: { kind, message: detail } };
  };
}
