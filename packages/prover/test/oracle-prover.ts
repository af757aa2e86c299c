/**
 * Provers over the plain engine. For tests only.
 */
import { vi } from 'vitest';
import type { ProverIncident } from '../src/engine/accelerator-record.ts';
import type { AcceleratorChoice } from '../src/engine/engine-keeper.ts';
import { createEngineProver } from '../src/proof/engine-prover.ts';
import { createOracleEngine, type OracleOptions, oracleKeyBytes } from './oracle-engine.ts';

/** A prover over oracles. */
export function setUp(
  options: {
    readonly accelerator?: AcceleratorChoice;
    readonly budget?: number;
    readonly deviceBudget?: number;
    readonly cpu?: OracleOptions;
    /** One entry for each time a device is opened. */
    readonly devices?: readonly OracleOptions[];
    /** Used when `devices` is exhausted. Such a device can be opened any number of times. */
    readonly everyDevice?: OracleOptions;
  } = {},
) {
  const cpu = createOracleEngine(options.cpu);
  const { everyDevice } = options;
  const create = (device: OracleOptions) => createOracleEngine({ ...device, kind: 'webgpu' });
  const devices = (options.devices ?? []).map(create);
  let opened = 0;
  const onIncident = vi.fn<(incident: ProverIncident) => void>();
  const prover = createEngineProver<string>({
    accelerator: options.accelerator ?? 'auto',
    memoryBudgetBytes: options.budget ?? 10 * oracleKeyBytes,
    deviceMemoryBudgetBytes: options.deviceBudget ?? 10 * oracleKeyBytes,
    witness: { maximumBytes: 2 ** 30, timeoutMs: 60_000 },
    factories: {
      cpu: () => Promise.resolve(cpu),
      webgpu: () => {
        if (everyDevice !== undefined && opened === devices.length) {
          devices.push(create(everyDevice));
        }
        const engine = devices[opened++];
        return Promise.resolve(engine === undefined ? { reason: 'none left' } : { engine });
      },
    },
    onIncident,
  });
  return { prover, cpu, devices, onIncident, countOpened: () => opened };
}
