// `node --conditions=@pool/source tooling/bench/prover/count-products.ts [fund-16 fund-64 fund-256]`: how many field multiplications a
// proof takes on a graphics device, counted from real keys and witnesses and the plans of the engine. The tables of docs/gpu.md.
import { createArtifactStore } from '@pool/circuits';
import { circuitShapes, type FundCircuit, fundCircuits } from '@pool/core';
import { scalarFieldOrder } from '@pool/kernels';
import { createBatch, toInput } from '../../../packages/circuits/test/fund-batch.ts';
import {
  countDigits,
  countMsm,
  countTransforms,
} from '../../../packages/prover/scripts/gpu-check/arithmetic.ts';
import { readInteger } from '../../../packages/prover/src/base/field.ts';
import { affineBytes } from '../../../packages/prover/src/webgpu/curve/curve-fields.ts';
import { witnessDensity } from '../../../packages/prover/src/webgpu/engine-key.ts';
import {
  countSumPoints,
  defaultTableShare,
  type SumSection,
  sumPointBytes,
  tableBudget,
} from '../../../packages/prover/src/webgpu/engine-memory.ts';
import { planMsm } from '../../../packages/prover/src/webgpu/msm/msm-plan.ts';
import { readFinitePoints } from '../../../packages/prover/src/webgpu/msm/tables.ts';
import {
  createWitnessRunner,
  defaultWitnessLimits,
} from '../../../packages/prover/src/witness/witness-runner.ts';
import { openZkey } from '../../../packages/prover/src/zkey/open-zkey.ts';

const budgetBytes = 16 * 2 ** 30;
/** The binding limit of large cards. */
const bindingBytes = 2 ** 31 - 256;

const store = createArtifactStore({ keyForm: 'compact' });
const runner = createWitnessRunner(defaultWitnessLimits);

function inMillions(value: number): string {
  return (value / 1e6).toLocaleString('en', { maximumSignificantDigits: 3 });
}

async function count(circuit: FundCircuit): Promise<void> {
  const { wasm, zkey: keyPath } = await store.ensureArtifacts(circuit);
  const zkey = await openZkey(keyPath);
  const { header } = zkey;
  const size = circuitShapes[circuit].outputs;
  const bytes = await runner.compute(wasm, toInput(createBatch(size, size)));
  const wires = Array.from({ length: header.wires }, (_, k) => readInteger(bytes, 32 * k));
  const isUnit = (value: bigint): boolean =>
    value === 1n || value === 0n || value === scalarFieldOrder - 1n;
  const large = wires.filter((value) => !isUnit(value)).length;
  const products = { g1: 0, g2: 0, buckets: 0 };
  for (const section of Object.keys(sumPointBytes) as SumSection[]) {
    const group = section === 'b2' ? 'g2' : 'g1';
    const points = countSumPoints(header)[section];
    const finite = await readFinitePoints(group, points, (start, length, into) =>
      zkey.readPoints(section, start, length, into),
    );
    const plans = planMsm(finite.indices.length, {
      group,
      bindingBytes: bindingBytes,
      tableBudgetBytes: tableBudget(header, section, budgetBytes * defaultTableShare),
      density: section === 'h' ? 1 : witnessDensity,
      tuning: {},
    });
    const { bits = 1, windows = 0, tables, groups } = plans[0]?.windows ?? {};
    const first = section === 'c' ? header.publicSignals + 1 : 0;
    // The quotient's values look random.
    const digits =
      section === 'h'
        ? points * windows * (1 - 2 ** -bits)
        : countDigits(
            [...finite.indices].map((index) => wires[index + first] ?? 0n),
            bits,
            scalarFieldOrder,
          );
    const { additions, buckets } = countMsm(group, plans, digits);
    products[group] += additions;
    products.buckets += buckets;
    const share = (digits / (points * windows)).toFixed(3);
    process.stdout.write(
      `  ${section}: ${finite.indices.length} of ${points} points finite (${affineBytes(group)} bytes), parts ${plans.length}, bits ${bits}, tables ${tables}, groups ${groups}, digits ${Math.round(digits)} = ${share} of all places\n`,
    );
  }
  const log = Math.log2(header.domainSize);
  const transforms = countTransforms(log);
  const all = products.g1 + products.g2 + products.buckets + transforms + header.coefficients;
  process.stdout.write(
    `${circuit}: wires ${header.wires}, ${(large / header.wires).toFixed(3)} of them neither 0 nor ±1; rows 2^${log}; entries ${header.coefficients} (${8 * header.coefficients} bytes)\n` +
      `| ${circuit} | ${[products.g1, products.g2, products.buckets, transforms, header.coefficients, all].map(inMillions).join(' | ')} |\n`,
  );
  await zkey.close();
}

const asked = fundCircuits.filter((name) => process.argv.includes(name));
for (const circuit of asked.length === 0 ? fundCircuits : asked) {
  await count(circuit);
}
await runner.close();
