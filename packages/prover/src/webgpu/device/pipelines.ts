/**
 * Compute pipelines, compiled once for every text of a shader, and the steps that run them.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import { ProverError } from '../../base/errors.ts';
import { type Bound, bind } from './bindings.ts';
import type { Gpu } from './device.ts';

export type Pipelines = {
  /**
   * Compiles, or finds, the entry point `main` of a shader. Bindings are those that the text uses, in group 0.
   * @throws ProverError `accelerator_refused` with the compiler's message
   */
  readonly compile: (
    wgsl: string,
    options?: {
      readonly label?: string;
      readonly entryPoint?: string;
      readonly constants?: Readonly<Record<string, number>>;
    },
  ) => Promise<GPUComputePipeline>;
};

export function createPipelines(gpu: Gpu): Pipelines {
  const compiled = new Map<string, Promise<GPUComputePipeline>>();
  const modules = new Map<string, Promise<GPUShaderModule>>();

  const compileModule = async (wgsl: string, label: string): Promise<GPUShaderModule> => {
    gpu.assertHealthy();
    // The errors are read below; the scope keeps them from being reported a second time.
    gpu.device.pushErrorScope('validation');
    const module = gpu.device.createShaderModule({ code: wgsl, label });
    const scope = gpu.device.popErrorScope();
    const info = await module.getCompilationInfo();
    await scope;
    const errors = info.messages.filter((message) => message.type === 'error');
    if (errors.length > 0) {
      const words = errors.slice(0, 3).map(({ lineNum, message }) => `line ${lineNum}: ${message}`);
      throw new ProverError(
        'accelerator_refused',
        `shader ${label} does not compile: ${words.join('; ')}`,
      );
    }
    return module;
  };

  return {
    compile: (wgsl, { label = 'shader', entryPoint = 'main', constants = {} } = {}) => {
      const key = `${entryPoint}\n${JSON.stringify(constants)}\n${wgsl}`;
      const known = compiled.get(key);
      if (known !== undefined) return known;
      const module = modules.get(wgsl) ?? compileModule(wgsl, label);
      modules.set(wgsl, module);
      const pipeline = module.then((ready) =>
        gpu.device.createComputePipelineAsync({
          label: `${label} ${entryPoint}`,
          layout: 'auto',
          compute: { module: ready, entryPoint, constants: { ...constants } },
        }),
      );
      compiled.set(key, pipeline);
      return pipeline;
    },
  };
}

/** One dispatch in a pass that is open. Workgroups beyond the limit of one dimension spill into the second: shaders use `group_index`. */
export function dispatch(
  gpu: Gpu,
  pass: GPUComputePassEncoder,
  pipeline: GPUComputePipeline,
  group: GPUBindGroup,
  workgroups: number,
): void {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  const [x, y] = splitWorkgroups(workgroups, gpu.device.limits.maxComputeWorkgroupsPerDimension);
  pass.dispatchWorkgroups(x, y);
}

/** One dispatch by itself; errors that the device reports about it are thrown. */
export async function runOnce(
  gpu: Gpu,
  pipeline: GPUComputePipeline,
  buffers: readonly Bound[],
  workgroups: number,
): Promise<void> {
  await gpu.guard(() => {
    const encoder = gpu.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    dispatch(gpu, pass, pipeline, bind(gpu, pipeline, buffers), workgroups);
    pass.end();
    gpu.device.queue.submit([encoder.finish()]);
  });
}

/** x and y with x * y >= workgroups and both within the limit; the excess is smaller than x. */
export function splitWorkgroups(workgroups: number, limit: number): readonly [number, number] {
  if (workgroups <= limit) return [workgroups, 1];
  const y = Math.ceil(workgroups / limit);
  return [Math.ceil(workgroups / y), y];
}
