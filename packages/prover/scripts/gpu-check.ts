/**
 * Everything that a machine with a graphics card should show, in one command and within ten minutes: that every kernel is right there,
 * and how fast each is. Prints one JSON line a result. Needs no network; see docs/gpu.md for the bundle.
 *
 *   GPU_CHECK_SECONDS=540   stop starting new measurements after this long
 *   GPU_CHECK_SOFTWARE=1    accept a renderer that runs on the processor, with small sizes: tries the script itself
 */
import { chooseLayout, measureLayouts } from '../src/webgpu/benchmark.ts';
import { createBuffers } from '../src/webgpu/buffers.ts';
import { openDevice } from '../src/webgpu/device.ts';
import { encodeElements } from '../src/webgpu/elements.ts';
import { createDeviceEngine } from '../src/webgpu/engine.ts';
import { findLimbLayout } from '../src/webgpu/limbs.ts';
import { createG1Msm, createG2Msm, createMsmContext } from '../src/webgpu/msm.ts';
import { createCosetTransform } from '../src/webgpu/ntt.ts';
import { createPipelines } from '../src/webgpu/pipelines.ts';
import { computeOnDevice, readFrom, TINY_SEGMENTS } from '../test/msm-on-device.ts';
import { createRandom, encodePoints, expectG1, expectG2, listCases } from '../test/msm-points.ts';
import { createSyntheticKey } from '../test/synthetic-key.ts';

const isSoftware = process.env['GPU_CHECK_SOFTWARE'] === '1';
const deadline = performance.now() + 1000 * Number(process.env['GPU_CHECK_SECONDS'] ?? 540);
let failures = 0;

const print = (what: string, values: Record<string, unknown>): void => {
  process.stdout.write(`${JSON.stringify({ what, ...values })}\n`);
};
/** Points and sums as text, to compare them. */
const describePoint = (value: unknown): string =>
  value === undefined
    ? 'infinity'
    : JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));
const check = (what: string, got: unknown, want: unknown): void => {
  const isRight = describePoint(got) === describePoint(want);
  if (!isRight) failures++;
  print(what, { isRight });
};
/** One part of the check; what goes wrong in it is reported, and the others still run. */
const part = async (what: string, run: () => Promise<void>): Promise<void> => {
  if (performance.now() > deadline) {
    print(what, { skipped: 'out of time' });
    return;
  }
  try {
    await run();
  } catch (error) {
    failures++;
    print(what, { error: String(error) });
  }
};
/** Milliseconds of the quickest of several runs. */
const measure = async (times: number, run: () => Promise<unknown>): Promise<number> => {
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < times; k++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
};

const opened = await openDevice({ allowSoftwareAdapter: isSoftware });
if ('reason' in opened) {
  process.stderr.write(`${opened.reason}\n`);
  process.exit(1);
}
const { gpu } = opened;
const buffers = createBuffers(gpu);
const pipelines = createPipelines(gpu);
const { limits } = gpu.device;
print('device', {
  name: gpu.name,
  maxBufferSize: limits.maxBufferSize,
  maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
  maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
});

const layouts = isSoftware ? [findLimbLayout('digits-13-loop')] : undefined;
const measurements = await measureLayouts(gpu, buffers, pipelines, layouts);
for (const measurement of measurements) print('layout', { ...measurement });
const chosen = chooseLayout(measurements);
const layout = findLimbLayout(chosen.name);
const multiplicationsPerSecond = chosen.multiplicationsPerSecond ?? Number.NaN;

const context = createMsmContext(gpu, buffers, layout);
const groups = ['g1', 'g2'] as const;
for (const group of groups) {
  await part(`compile ${group}`, async () => {
    print(`compile ${group}`, { ms: await measure(1, () => context.kernels.of(group)) });
  });
}

const tunings = [
  {},
  { bits: 8, tables: 32 },
  { bits: 6, tables: 9, segment: TINY_SEGMENTS },
  { bits: 7, tables: 40, partPoints: 100, sliceAdditions: 1, segment: TINY_SEGMENTS },
];
for (const group of groups) {
  for (const [name, sums] of Object.entries(listCases(isSoftware ? 33 : 513))) {
    await part(`msm ${group} ${name}`, async () => {
      const want = (group === 'g1' ? expectG1 : expectG2)(sums.factors, sums.scalars);
      for (const tuning of tunings) {
        check(`msm ${group} ${name}`, await computeOnDevice(context, group, sums, tuning), want);
      }
    });
  }
}

/** Field multiplications of adding one point to a sum. */
const ADDITION = { g1: 10, g2: 28 } as const;
const measureMsm = async (
  group: 'g1' | 'g2',
  bits: number,
  tableBudgetBytes: number,
): Promise<void> => {
  const count = 2 ** bits;
  const factors = Array.from({ length: count }, (_, k) => (k % 199) + 1);
  const random = createRandom(BigInt(bits));
  const points = encodePoints(group, factors);
  const options = { count, read: readFrom(points, group === 'g1' ? 64 : 128), tableBudgetBytes };
  const start = performance.now();
  const msm = await (group === 'g1' ? createG1Msm : createG2Msm)(context, options);
  const loadMs = performance.now() - start;
  for (const kind of ['random', 'circuit'] as const) {
    const scalars = factors.map((_, k) =>
      kind === 'random' || k % 5 === 0 ? random.scalar() : BigInt(k & 1),
    );
    const onDevice = buffers.upload(encodeElements(scalars));
    const what = `msm ${group} 2^${bits} ${kind}`;
    const want = (group === 'g1' ? expectG1 : expectG2)(factors, scalars);
    check(what, await msm.compute(onDevice), want);
    const ms = await measure(5, () => msm.compute(onDevice));
    const windows = msm.plans[0]?.windows;
    const digits = count * (windows?.windows ?? 0);
    const limitMs = (1000 * digits * ADDITION[group]) / multiplicationsPerSecond;
    print(what, {
      ms,
      loadMs,
      bytes: msm.bytes,
      ...windows,
      ...(kind === 'random' && { limitMs, ratio: ms / limitMs }),
    });
    buffers.release(onDevice);
  }
  msm.release();
};
const sizes = isSoftware ? [8] : [14, 16, 18, 20];
for (const bits of sizes) {
  for (const group of groups) {
    for (const tableBudgetBytes of [0, 2 ** 31]) {
      await part(`msm ${group} 2^${bits}`, () => measureMsm(group, bits, tableBudgetBytes));
    }
  }
}

for (const bits of sizes) {
  await part(`transform 2^${bits}`, async () => {
    const transform = await createCosetTransform({ gpu, buffers, pipelines, layout }, bits, 3);
    const data = buffers.take(3 * 32 * 2 ** bits);
    const bound = transform.bindData(data);
    const ms = await measure(6, () => {
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      transform.record(pass, bound);
      pass.end();
      gpu.device.queue.submit([encoder.finish()]);
      return gpu.device.queue.onSubmittedWorkDone();
    });
    print(`transform 2^${bits}, three polynomials to the coset`, { ms });
    buffers.release(data);
    transform.release();
  });
}
context.workspace.release();

const engine = createDeviceEngine(gpu, {
  layout,
  memoryBudgetBytes: isSoftware ? 2 ** 29 : 16 * 2 ** 30,
});
for (const bits of isSoftware ? [5] : [10, 12, 16, 18, 20]) {
  await part(`proof 2^${bits}`, async () => {
    const domainSize = 2 ** bits;
    const wires = domainSize - 3;
    const { zkey, expectSums } = createSyntheticKey({ domainSize, wires, publicSignals: 4 });
    const random = createRandom(9n);
    const witness = Array.from({ length: wires }, (_, k) =>
      k === 0 ? 1n : k % 2 === 0 ? random.scalar() : BigInt((k >> 1) & 1),
    );
    const bytes = encodeElements(witness);
    const start = performance.now();
    const key = await engine.load(zkey);
    const loadMs = performance.now() - start;
    const sums = await key.computeSums(bytes);
    // The plain arithmetic that says what is right takes minutes above this.
    if (bits <= 12) check(`proof 2^${bits}`, sums, expectSums(witness));
    const ms = await measure(5, () => key.computeSums(bytes));
    print(`proof 2^${bits}, five sums and the quotient`, { ms, loadMs, bytes: key.bytes });
    key.release();
  });
}
await engine.close();
print('done', { failures });
process.exitCode = failures === 0 ? 0 : 1;
