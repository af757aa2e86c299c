/**
 * A prover on this machine: its graphics device where there is one, else all cores of its processor.
 *
 * @module
 */
import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';
import { createCpuEngine } from './engine/cpu-engine.ts';
import type { AcceleratorChoice, ProverIncident } from './engine/engine-keeper.ts';
import { createEngineProver } from './engine-prover.ts';
import type { ArtifactSource, Prover } from './prover.ts';

export type ProverOptions<C extends string = string> = {
  /** Needed only to prove by a circuit's name. */
  readonly artifacts?: ArtifactSource<C> | undefined;
  /** Default: `auto`. */
  readonly accelerator?: AcceleratorChoice | undefined;
  /** Threads of the processor. Default: all cores. */
  readonly threads?: number | undefined;
  /** Memory for proving keys and work, in bytes. Default: half of what this process may use. */
  readonly memoryBudgetBytes?: number | undefined;
  /** Memory of the graphics device, likewise. Default: 4 GiB. */
  readonly deviceMemoryBudgetBytes?: number | undefined;
  /** Accept a renderer that runs on the processor as a device. For tests: it is slower than the processor itself. */
  readonly allowSoftwareAdapter?: boolean | undefined;
  /** Told what went wrong without failing a proof: a device that went away or computed wrongly. */
  readonly onIncident?: ((incident: ProverIncident) => void) | undefined;
};

/** The limit of the container, if there is one, else the machine's memory. */
const findMemory = (): number => {
  const limit = constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
};

const DEFAULT_DEVICE_BYTES = 4 * 2 ** 30;

/** WebAssembly of 32 bits addresses no more. */
const MAXIMUM_KERNEL_BYTES = 2 ** 32;

/** Creates a prover; starts nothing until the first proof, or until it is asked to be `ready`. */
export const createProver = <C extends string = string>(
  options: ProverOptions<C> = {},
): Prover<C> => {
  const memoryBudgetBytes = options.memoryBudgetBytes ?? Math.floor(findMemory() / 2);
  const deviceMemoryBudgetBytes = options.deviceMemoryBudgetBytes ?? DEFAULT_DEVICE_BYTES;
  return createEngineProver({
    artifacts: options.artifacts,
    accelerator: options.accelerator ?? 'auto',
    memoryBudgetBytes,
    deviceMemoryBudgetBytes,
    onIncident: options.onIncident,
    factories: {
      cpu: () =>
        createCpuEngine({
          threads: options.threads,
          maximumBytes: Math.min(memoryBudgetBytes, MAXIMUM_KERNEL_BYTES),
        }),
      // Loaded only where it is used: the package webgpu is optional, and large.
      webgpu: async () => {
        const { createWebGpuEngine } = await import('./webgpu/index.ts');
        return await createWebGpuEngine({
          allowSoftwareAdapter: options.allowSoftwareAdapter,
          memoryBudgetBytes: deviceMemoryBudgetBytes,
        });
      },
    },
  });
};
