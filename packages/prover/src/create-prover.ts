/**
 * A prover on this machine: its graphics device where there is one, else all cores of its processor.
 *
 * @module
 */
import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';
import { argumentError, assertWithin, maximumTimeoutMs } from './check-arguments.ts';
import type { ProverIncident } from './engine/accelerator-record.ts';
import { createCpuEngine } from './engine/cpu-engine.ts';
import type { AcceleratorChoice } from './engine/engine-keeper.ts';
import { createEngineProver } from './engine-prover.ts';
import type { ArtifactSource, Prover } from './prover.ts';
import { defaultWitnessLimits } from './witness/witness-runner.ts';

export type ProverOptions<C extends string = string> = {
  /** Needed only to prove by a circuit's name. */
  readonly artifacts?: ArtifactSource<C> | undefined;
  /** Default: `auto`. */
  readonly accelerator?: AcceleratorChoice | undefined;
  /** Threads of the processor. Default: all cores. */
  readonly threads?: number | undefined;
  /**
   * Memory for proving keys and work, in bytes: the most that a key and its proofs, and a witness program, may take. Default: half of
   * what this process may use. The processor's kernels address 4 GiB, so more than that is of no use.
   */
  readonly memoryBudgetBytes?: number | undefined;
  /** Memory of the graphics device, likewise. Default: 4 GiB. */
  readonly deviceMemoryBudgetBytes?: number | undefined;
  /** How long a witness program may run, in milliseconds: one that never ends would hold up all others. Default: 10 minutes. */
  readonly witnessTimeoutMs?: number | undefined;
  /**
   * Folder, made if need be, that keeps what was measured of a graphics device between starts. Default: none, and the first start of
   * each process measures. Several processes may share it.
   */
  readonly cacheDir?: string | undefined;
  /** Accept a renderer that runs on the processor as a device. For tests: it is slower than the processor itself. */
  readonly allowSoftwareAdapter?: boolean | undefined;
  /** Told what went wrong without failing a proof: a device that went away, reported an error, computed wrongly, or is not used any more. */
  readonly onIncident?: ((incident: ProverIncident) => void) | undefined;
};

/** The limit of the container, if there is one, else the machine's memory. */
function findMemory(): number {
  const limit = constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

const defaultDeviceBytes = 4 * 2 ** 30;

/** WebAssembly of 32 bits addresses no more. */
const maximumKernelBytes = 2 ** 32;

const accelerators: readonly unknown[] = ['auto', 'webgpu', 'cpu'] satisfies AcceleratorChoice[];

/**
 * Creates a prover; starts nothing until the first proof, or until it is asked to be `ready`. Several provers in one process do not
 * know of each other: divide threads and memory between them.
 *
 * @example
 * const prover = createProver();
 * const { proof, publicSignals } = await prover.prove({ circuit: { wasmPath, zkeyPath, verificationKey }, input });
 * await prover.close();
 *
 * @throws ProverError `argument_invalid` for an option of the wrong type or out of range
 */
export function createProver<C extends string = string>(options: ProverOptions<C> = {}): Prover<C> {
  assertWithin('threads', options.threads, 1_024);
  assertWithin('memoryBudgetBytes', options.memoryBudgetBytes, Number.MAX_SAFE_INTEGER);
  assertWithin('deviceMemoryBudgetBytes', options.deviceMemoryBudgetBytes, Number.MAX_SAFE_INTEGER);
  assertWithin('witnessTimeoutMs', options.witnessTimeoutMs, maximumTimeoutMs);
  if (options.accelerator !== undefined && !accelerators.includes(options.accelerator)) {
    throw argumentError('The option accelerator must be auto, webgpu or cpu.');
  }
  const memoryBudgetBytes = Math.min(
    options.memoryBudgetBytes ?? Math.floor(findMemory() / 2),
    maximumKernelBytes,
  );
  const deviceMemoryBudgetBytes = options.deviceMemoryBudgetBytes ?? defaultDeviceBytes;
  return createEngineProver({
    artifacts: options.artifacts,
    accelerator: options.accelerator ?? 'auto',
    memoryBudgetBytes,
    deviceMemoryBudgetBytes,
    witness: {
      maximumBytes: memoryBudgetBytes,
      timeoutMs: options.witnessTimeoutMs ?? defaultWitnessLimits.timeoutMs,
    },
    onIncident: options.onIncident,
    factories: {
      cpu: () =>
        createCpuEngine({
          threads: options.threads,
          maximumBytes: memoryBudgetBytes,
        }),
      // Loaded only where it is used: the package webgpu is optional, and large.
      webgpu: async () => {
        const { createWebGpuEngine } = await import('./webgpu/index.ts');
        return await createWebGpuEngine({
          allowSoftwareAdapter: options.allowSoftwareAdapter,
          memoryBudgetBytes: deviceMemoryBudgetBytes,
          cacheDir: options.cacheDir,
        });
      },
    },
  });
}
