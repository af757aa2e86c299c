/** Sums of points: correct in every structured case, and their time compared with that of their arithmetic alone. */
import { isDeepStrictEqual } from 'node:util';
import { encodeIntegers, type Kernels } from '@pool/kernels';
import { scalarFieldOrder } from '../../src/base/field.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { assembleProof } from '../../src/proof/assemble-proof.ts';
import { verifyProof } from '../../src/proof/verify-proof.ts';
import type { Group } from '../../src/webgpu/curve/curve-fields.ts';
import { createG1Msm, createG2Msm, type MsmContext } from '../../src/webgpu/msm/msm.ts';
import { computeOnDevice, readFrom, tinySegments } from '../../test/msm-on-device.ts';
import {
  createRandom,
  encodePoints,
  expectG1,
  expectG2,
  listCases,
} from '../../test/msm-points.ts';
import { countDigits, countMsm } from './arithmetic.ts';
import { createMadeUpCircuit, type MadeUpCircuit } from './made-up-circuit.ts';
import { measure, measureUnderLoad, type Report } from './report.ts';

// Whole proofs of made-up circuits: the same sums from the device and from the processor, bit for bit; a proof that verifies; the times
// of both.

type ProofCheck = {
  readonly kernels: Kernels;
  /** Undefined: the processor alone. */
  readonly device: Engine | undefined;
  readonly processor: Engine;
  /** log2 of the number of rows. */
  readonly log: number;
  readonly times: number;
};

/** Proofs requested at the same time. */
const together = 4;

async function measureDevice(device: Engine, { zkey, witness }: MadeUpCircuit, times: number) {
  const startedAt = performance.now();
  const key = await device.load(zkey);
  const loadMs = performance.now() - startedAt;
  const sums = await key.computeSums(witness);
  const deviceMs = await measureUnderLoad(times, () => key.computeSums(witness));
  const togetherMs = await measure(1, () =>
    Promise.all(Array.from({ length: together }, () => key.computeSums(witness))),
  );
  key.release();
  const megabytes = key.bytes / 2 ** 20;
  return { sums, row: { deviceMs, eachOfFourMs: togetherMs / together, loadMs, megabytes } };
}

export async function checkProof(report: Report, check: ProofCheck): Promise<void> {
  const { device, processor, log, times } = check;
  let startedAt = performance.now();
  const circuit = await createMadeUpCircuit(check.kernels, 2 ** log);
  const makeMs = performance.now() - startedAt;

  const onDevice = device && (await measureDevice(device, circuit, times));

  const own = await processor.load(circuit.zkey);
  const sums = await own.computeSums(circuit.witness);
  const processorMs = await measure(Math.min(times, 2), () => own.computeSums(circuit.witness));
  own.release();
  if (onDevice !== undefined) {
    const isSame = isDeepStrictEqual(onDevice.sums, sums);
    report.check(`sums of 2^${log} rows, as on the processor`, isSame);
  }

  startedAt = performance.now();
  const proof = assembleProof(sums, circuit.zkey.header, 123n, 456n);
  const assembleMs = performance.now() - startedAt;
  startedAt = performance.now();
  const isValid = verifyProof(circuit.verificationKey, circuit.publicSignals, proof);
  const verifyMs = performance.now() - startedAt;
  report.check(`proof of 2^${log} rows verifies`, isValid);

  report.add('proofs', {
    log,
    ...onDevice?.row,
    processorMs,
    timesProcessor: onDevice && processorMs / onDevice.row.deviceMs,
    assembleMs,
    verifyMs,
    makeMs,
  });
}

function expectSum(group: Group, factors: readonly number[], scalars: readonly bigint[]) {
  return (group === 'g1' ? expectG1 : expectG2)(factors, scalars);
}

const tuningCases = [
  {},
  { bits: 8, tables: 32 },
  { bits: 6, tables: 9, segment: tinySegments },
  { bits: 7, tables: 40, partPoints: 100, sliceAdditions: 1, segment: tinySegments },
];

/** @param isQuick - a renderer on the processor: few points, no tables */
export async function checkCases(
  report: Report,
  context: MsmContext,
  group: Group,
  isQuick: boolean,
): Promise<void> {
  const tunings = isQuick ? [{ bits: 6, tables: 1, segment: tinySegments }] : tuningCases;
  for (const [name, sums] of Object.entries(listCases(isQuick ? 9 : 513))) {
    const want = expectSum(group, sums.factors, sums.scalars);
    for (const tuning of tunings) {
      const got = await computeOnDevice(context, group, sums, tuning);
      report.check(
        `sum in ${group}, ${name}, ${JSON.stringify(tuning)}`,
        isDeepStrictEqual(got, want),
      );
    }
  }
}

/** Scalars whose digits are counted. The others are assumed to be similar. */
const sampleSize = 1 << 12;

export type SumMeasurement = {
  readonly group: Group;
  /** log2 of the number of points. */
  readonly log: number;
  readonly tableBudgetBytes: number;
  readonly multiplicationsPerSecond: number;
  readonly times: number;
};

export async function measureSum(
  report: Report,
  context: MsmContext,
  { group, log, tableBudgetBytes, multiplicationsPerSecond, times }: SumMeasurement,
): Promise<void> {
  const count = 2 ** log;
  const factors = Array.from({ length: count }, (_, k) => (k % 199) + 1);
  const random = createRandom(BigInt(log));
  const points = encodePoints(group, factors);
  const options = { count, read: readFrom(points, group === 'g1' ? 64 : 128), tableBudgetBytes };
  const startedAt = performance.now();
  const msm = await (group === 'g1' ? createG1Msm : createG2Msm)(context, options);
  const loadMs = performance.now() - startedAt;
  try {
    for (const scalarsAre of ['random', 'as in circuits'] as const) {
      const scalars = factors.map((_, k) =>
        scalarsAre === 'random' || k % 5 === 0 ? random.scalar() : BigInt(k & 1),
      );
      const onDevice = context.buffers.upload(encodeIntegers(scalars));
      const want = expectSum(group, factors, scalars);
      const got = await msm.compute(onDevice);
      report.check(
        `sum in ${group} of 2^${log} points, ${scalarsAre}`,
        isDeepStrictEqual(got, want),
      );
      const ms = await measureUnderLoad(times, () => msm.compute(onDevice));
      context.buffers.release(onDevice);
      const windows = msm.plans[0]?.windows;
      const sample = scalars.slice(0, sampleSize);
      const digits =
        (countDigits(sample, windows?.bits ?? 1, scalarFieldOrder) * count) / sample.length;
      const { additions, buckets } = countMsm(group, msm.plans, digits);
      const limitMs = (1000 * additions) / multiplicationsPerSecond;
      report.add('sums', {
        group,
        log,
        scalars: scalarsAre,
        bits: windows?.bits,
        tables: windows?.tables,
        groups: windows?.groups,
        ms,
        limitMs,
        ratio: ms / limitMs,
        bucketsMs: (1000 * buckets) / multiplicationsPerSecond,
        loadMs,
        megabytes: msm.bytes / 2 ** 20,
      });
    }
  } finally {
    msm.release();
  }
}
