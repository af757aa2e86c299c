/**
 * A prover on this machine: on its graphics device if there is one, and otherwise on all cores of its processor.
 *
 * @module
 */
import { findBuiltin, measureMultiplications } from '@pool/kernels';
import { assertWithin, maximumTimeoutMs } from './base/check-arguments.ts';
import { argumentError } from './base/errors.ts';
import { openKeyStore } from './base/key-store.ts';
import type { ArtifactSource, Prover } from './base/prover.ts';
import { assertRuntime } from './base/runtime.ts';
import type { ProverIncident } from './engine/accelerator-record.ts';
import { createCpuEngine } from './engine/cpu-engine.ts';
import type { AcceleratorChoice } from './engine/engine-keeper.ts';
import { createEngineProver } from './proof/engine-prover.ts';
import { defaultWitnessLimits } from './witness/witness-runner.ts';

export type ProverOptions<C extends string = string> = {
  /** Needed only to prove by the name of a circuit. */
  readonly artifacts?: ArtifactSource<C> | undefined;
  /** Default: `auto`. */
  readonly accelerator?: AcceleratorChoice | undefined;
  /** Threads on the processor. Default: all cores. */
  readonly threads?: number | undefined;
  /**
   * Memory for proving keys and proofs in bytes: the maximum that a key and its proofs, and a witness program, may use. Default:
   * half of the memory that this process may use. The processor's kernels cannot address more than 4 GiB.
   */
  readonly memoryBudgetBytes?: number | undefined;
  /** The same for the memory of the graphics device, in bytes. Default: 4 GiB. */
  readonly deviceMemoryBudgetBytes?: number | undefined;
  /**
   * How long a witness program may run, in milliseconds. A program that never ends would block all others. Default: 10 minutes.
   */
  readonly witnessTimeoutMs?: number | undefined;
  /**
   * Folder that keeps measurements of the graphics device between starts. It is created if it is missing. Default: none, so that
   * each process measures at its first start. Several processes may share it.
   */
  readonly cacheDir?: string | undefined;
  /**
   * Folder of prepared proving keys (in a page: of its origin's private file system), so that the first proof of a later process
   * parses nothing. It is created if it is missing, and keeps the last eight keys, each somewhat smaller than its `.zkey`. Several
   * processes may share it. Nobody else may write there. It is written beside the first proof; `close()` waits for it, for half a minute
   * at most, and `process.exit()` loses it. A key from a URL is prepared if its server sends `ETag` or `Last-Modified`, which the next
   * process compares by a HEAD request. Default: none.
   */
  readonly keyCacheDir?: string | undefined;
  /** Accept a graphics driver that runs on the processor. For tests: it is slower than the processor engine. */
  readonly allowSoftwareAdapter?: boolean | undefined;
  /**
   * Called for problems that did not fail the proof: a device went away, reported an error, computed a wrong result, or is no
   * longer used.
   */
  readonly onIncident?: ((incident: ProverIncident) => void) | undefined;
};

/** The memory limit of the container if there is one, else the machine's memory. A browser reveals only a part of it. */
function findMemory(): number {
  const { process, navigator } = globalThis as {
    readonly process?: { readonly constrainedMemory?: () => number };
    readonly navigator?: { readonly deviceMemory?: number };
  };
  const machine = findBuiltin('node:os')?.totalmem() ?? (navigator?.deviceMemory ?? 4) * 2 ** 30;
  const limit = process?.constrainedMemory?.() ?? 0;
  return limit > 0 && limit < machine ? limit : machine;
}

const defaultDeviceBytes = 4 * 2 ** 30;

/** 32-bit WebAssembly cannot address more. */
const maximumKernelBytes = 2 ** 32;

const accelerators: readonly unknown[] = ['auto', 'webgpu', 'cpu'] satisfies AcceleratorChoice[];

/**
 * Creates a prover. It starts nothing before the first proof or the first call of `ready`. Several provers in one process share
 * nothing: divide threads and memory between them.
 *
 * @example
 * const prover = createProver();
 * const { proof, publicSignals } = await prover.prove({ circuit: { wasm: 'a.wasm', zkey: 'a.zkey' }, input });
 * await prover.close();
 *
 * @throws ProverError `argument_invalid` for an option of the wrong type or out of range; `runtime_unsupported` in a version of
 *   Node before 22.18
 */
export function createProver<C extends string = string>(options: ProverOptions<C> = {}): Prover<C> {
  assertRuntime();
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
    keyStore: options.keyCacheDir === undefined ? undefined : openKeyStore(options.keyCacheDir),
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
      // Loaded only when it is used: the package webgpu is optional and large.
      webgpu: async () => {
        const { createWebGpuEngine } = await import('./webgpu/engine.ts');
        return await createWebGpuEngine({
          allowSoftwareAdapter: options.allowSoftwareAdapter,
          memoryBudgetBytes: deviceMemoryBudgetBytes,
          cacheDir: options.cacheDir,
          // A caller who names a device, or allows one in software, decides.
          ...(options.accelerator === 'webgpu' || options.allowSoftwareAdapter === true
            ? {}
            : { measureProcessor: () => measureMultiplications(options.threads) }),
        });
      },
    },
  });
}
