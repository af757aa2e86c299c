import { openTestDevice, openNullDevice } from './test-device.ts';
import { createBuffers } from '../src/webgpu/buffers.ts';
import { findLimbLayout } from '../src/webgpu/limbs.ts';
import { createMsmContext, createG1Msm, createG2Msm } from '../src/webgpu/msm.ts';
import { createMsmKernels } from '../src/webgpu/msm-kernels.ts';
import { bn254 } from '@noble/curves/bn254.js';
import { encodeElements } from '../src/webgpu/elements.ts';
const layout = findLimbLayout('digits-13-loop');
const nul = await openNullDevice();
let t = performance.now();
await createMsmKernels(nul, layout).of('g1'); await createMsmKernels(nul, layout).of('g2');
console.log('null ok', performance.now() - t); nul.close();
const gpu = await openTestDevice(); if (!gpu) throw 1;
const buffers = createBuffers(gpu);
const context = createMsmContext(gpu, buffers, layout);
t = performance.now(); await context.kernels.of('g1'); console.log('g1 compile', performance.now() - t);
const q = bn254.fields.Fp.ORDER, r = bn254.fields.Fr.ORDER;
const n = Number(process.argv[2] ?? 100);
const pts = []; let P = bn254.G1.Point.BASE; for (let i = 0; i < n; i++) { pts.push(P.toAffine()); P = P.add(bn254.G1.Point.BASE); }
const bytes = encodeElements(pts.flatMap((p) => [p.x, p.y]).map((v) => (v << 256n) % q));
let seed = 12345n; const rand = () => { seed = (seed * 6364136223846793005n + 1442695040888963407n) % (1n << 64n); return seed; };
const scalars = Array.from({ length: n }, () => (rand() << 192n | rand() << 128n | rand() << 64n | rand()) % r);
const expected = scalars.reduce((a, s, i) => (a + s * BigInt(i + 1)) % r, 0n);
const want = bn254.G1.Point.BASE.multiply(expected).toAffine();
const sb = buffers.upload(encodeElements(scalars));
for (const tuning of [{}, { bits: 4, tables: 64 }, { bits: 5, tables: 7, segment: { least: 2, most: 3, wanted: 4 } }]) {
  t = performance.now();
  const msm = await createG1Msm(context, { count: n, read: async (s, c, into) => into.set(bytes.subarray(s * 64, (s + c) * 64)), tuning });
  const t2 = performance.now();
  const got = await msm.compute(sb);
  console.log(JSON.stringify(tuning), msm.plans[0]!.windows, 'load', (t2 - t).toFixed(0), 'compute', (performance.now() - t2).toFixed(0), got?.x === want.x && got?.y === want.y);
}
gpu.close();
