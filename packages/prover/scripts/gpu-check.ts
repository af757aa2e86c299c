/**
 * Checks a machine with a graphics card in one command: that every kernel is correct there, and how fast each is.
 * Makes its own keys; needs no network. Prints a line as each part is done, then tables, then one line of JSON. See docs/gpu.md.
 *
 *   --max-log 20     largest sums, transforms and proofs: 2^20 points or rows
 *   --only msm       parts to run, by comma: cases, msm, transforms, proofs; or processor (proofs without the card)
 *   --groups g1      groups for cases and msm
 *   --circuits a,b   also whole proofs of these folders' circuits (gpu-check/circuits.ts)
 *   --seconds 540    start no new part after this long
 *   --budget-gb 16   device memory for keys and their tables
 *   --json file      also write the JSON there
 *   --software       accept a renderer that runs on the processor, in one layout and without tables: to test this script
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createKernels } from '@pool/kernels';
import { createCpuEngine } from '../src/engine/cpu-engine.ts';
import { createBuffers } from '../src/webgpu/device/buffers.ts';
import { openDevice } from '../src/webgpu/device/device.ts';
import { createPipelines } from '../src/webgpu/device/pipelines.ts';
import { createDeviceEngine } from '../src/webgpu/engine.ts';
import { chooseLayout, measureLayouts } from '../src/webgpu/field/benchmark.ts';
import { findLimbLayout } from '../src/webgpu/field/limbs.ts';
import { createMsmContext } from '../src/webgpu/msm/msm.ts';
import { createCosetTransform } from '../src/webgpu/quotient/ntt.ts';
import { countTransforms } from './gpu-check/arithmetic.ts';
import { checkCases, checkProof, measureSum } from './gpu-check/checks.ts';
import { checkCircuit, measureSnarkjs } from './gpu-check/circuits.ts';
import { createReport, measure, measureUnderLoad } from './gpu-check/report.ts';

const { values: options } = parseArgs({
  options: {
    'max-log': { type: 'string', default: '20' },
    only: { type: 'string', default: 'cases,msm,transforms,proofs' },
    groups: { type: 'string', default: 'g1,g2' },
    seconds: { type: 'string', default: '540' },
    circuits: { type: 'string', default: '' },
    'budget-gb': { type: 'string', default: '16' },
    json: { type: 'string' },
    software: { type: 'boolean', default: false },
  },
});
const isSoftware = options.software;
const maxLog = Number(options['max-log']);
const parts = new Set(options.only.split(','));
const times = isSoftware ? 1 : 5;
const groups = (['g1', 'g2'] as const).filter((group) => options.groups.split(',').includes(group));
const sizes = isSoftware ? [maxLog] : [12, 14, 16, 18, 20, 22].filter((log) => log <= maxLog);

const opened = await openDevice({ allowSoftwareAdapter: isSoftware });
if ('reason' in opened) {
  process.stderr.write(`${opened.reason}\n`);
  process.exit(1);
}
const { gpu } = opened;
const buffers = createBuffers(gpu);
const pipelines = createPipelines(gpu);
const report = createReport(
  performance.now() + 1000 * Number(options.seconds),
  (text: string): void => {
    process.stdout.write(text);
  },
);
const { limits } = gpu.device;
report.add('device', {
  name: gpu.name,
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  processor: cpus()[0]?.model,
  processors: availableParallelism(),
  maxBufferSize: limits.maxBufferSize,
  maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
  workgroupBytes: limits.maxComputeWorkgroupStorageSize,
  subgroups: gpu.hasSubgroups,
});

const layouts = isSoftware ? [findLimbLayout('digits-13-loop')] : undefined;
const measurements = await measureLayouts(gpu, buffers, pipelines, layouts);
for (const { name, isCorrect, multiplicationsPerSecond } of measurements) {
  report.add('layouts', { name, isCorrect, multiplicationsPerSecond });
}
const chosen = chooseLayout(measurements);
const layout = findLimbLayout(chosen.name);
const { multiplicationsPerSecond = Number.NaN } = chosen;

const context = createMsmContext(gpu, buffers, layout);
for (const group of parts.has('cases') || parts.has('msm') ? groups : []) {
  await report.part(`compile ${group}`, async () => {
    const ms = await measure(1, () => context.kernels.of(group));
    report.add('compilation', { group, ms });
  });
}
if (parts.has('cases')) {
  for (const group of groups) {
    await report.part(`cases in ${group}`, () => checkCases(report, context, group, isSoftware));
  }
}
if (parts.has('msm')) {
  for (const log of sizes) {
    for (const group of groups) {
      for (const tableBudgetBytes of isSoftware ? [0] : [0, 2 ** 32]) {
        const what = { group, log, tableBudgetBytes, multiplicationsPerSecond, times };
        await report.part(`sums of 2^${log} in ${group}`, () => measureSum(report, context, what));
      }
    }
  }
}
if (parts.has('transforms')) {
  for (const log of sizes) {
    await report.part(`transforms of 2^${log}`, async () => {
      const transform = await createCosetTransform({ gpu, buffers, pipelines, layout }, log, 3);
      const data = buffers.take(3 * 32 * 2 ** log);
      const bound = transform.bindData(data);
      const ms = await measureUnderLoad(times, () =>
        gpu.guard(() => {
          const encoder = gpu.device.createCommandEncoder();
          const pass = encoder.beginComputePass();
          transform.record(pass, bound);
          pass.end();
          gpu.device.queue.submit([encoder.finish()]);
          return gpu.device.queue.onSubmittedWorkDone();
        }),
      );
      const limitMs = (1000 * countTransforms(log)) / multiplicationsPerSecond;
      report.add('three polynomials to the coset', { log, ms, limitMs, ratio: ms / limitMs });
      buffers.release(data);
      transform.release();
    });
  }
}
context.workspace.release();

const memoryBudgetBytes = Number(options['budget-gb']) * 2 ** 30;
const device = createDeviceEngine(gpu, { layout, memoryBudgetBytes });
if (parts.has('proofs') || parts.has('processor')) {
  const processor = await createCpuEngine();
  const kernels = await createKernels();
  for (const log of sizes) {
    await report.part(`proof of 2^${log} rows`, () =>
      checkProof(report, {
        kernels,
        device: parts.has('proofs') ? device : undefined,
        processor,
        log,
        times,
      }),
    );
  }
  await kernels.close();
  await processor.close();
}
await device.close();

for (const folder of options.circuits.split(',').filter((each) => each !== '')) {
  for (const accelerator of ['webgpu', 'cpu'] as const) {
    const proverOptions = {
      accelerator,
      deviceMemoryBudgetBytes: memoryBudgetBytes,
      allowSoftwareAdapter: isSoftware,
    };
    await report.part(`${folder} by ${accelerator}`, () =>
      checkCircuit(report, folder, times, proverOptions),
    );
  }
  await report.part(`${folder} by snarkjs`, () => measureSnarkjs(report, folder));
}

const json = JSON.stringify(report.toJson());
if (options.json !== undefined) writeFileSync(options.json, json);
// The peer's threads would keep the process alive.
process.stdout.write(`${report.render()}\n${json}\n`, () => {
  process.exit(report.problems().length === 0 ? 0 : 1);
});
