// The parts of one proof alone, each with the whole machine to itself: `run-phases.ts <circuit as JSON> <runs>`; prints
// PhaseMeasurements. Ours are calls of @pool/kernels; snarkjs' are the calls that its prover makes of ffjavascript, on the same points
// and the same witness.
import { type FileHandle, open, readFile } from 'node:fs/promises';
import {
  type ByteSource,
  createKernels,
  decodeZkeyHeader,
  type Group,
  readZkeyCoefficients,
  readZkeyTable,
  zkeyPointBytes,
  zkeySection,
} from '@pool/kernels';
import { curves, type MemoryFile, wtns } from 'snarkjs';
import type { BenchCircuit } from './circuits.ts';
import { fastest, type PhaseMeasurement } from './measurement.ts';

/** The part of ffjavascript that snarkjs' prover calls for these. */
interface CurveOfSnarkjs {
  readonly Fr: {
    readonly w: readonly Uint8Array[];
    e(value: bigint): Uint8Array;
    batchApplyKey(bytes: Uint8Array, first: Uint8Array, factor: Uint8Array): Promise<Uint8Array>;
    fft(bytes: Uint8Array): Promise<Uint8Array>;
    ifft(bytes: Uint8Array): Promise<Uint8Array>;
  };
  readonly G1: SumsOfSnarkjs;
  readonly G2: SumsOfSnarkjs;
}
interface SumsOfSnarkjs {
  multiExpAffine(points: Uint8Array, scalars: Uint8Array): Promise<Uint8Array>;
}

const scalarBytes = 32;
/** Bytes before the first scalar of a `.wtns` file: its head, the section of the field, the head of the section of values. */
const witnessStart = 12 + 12 + 40 + 12;

async function openSource(file: FileHandle): Promise<ByteSource> {
  return {
    size: (await file.stat()).size,
    read: async (position, into) => {
      const { bytesRead } = await file.read(into, 0, into.length, position);
      if (bytesRead !== into.length) throw new Error('the key ends early');
    },
  };
}

/** Milliseconds of the fastest run after one that is not counted. */
async function time(runs: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let run = 0; run <= runs; run++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return fastest(taken.slice(1));
}

const circuit = JSON.parse(process.argv[2] ?? '') as BenchCircuit;
const runs = Number(process.argv[3]);
const witnessFile: MemoryFile = { type: 'mem' };
await wtns.calculate(
  JSON.parse(await readFile(circuit.inputPath, 'utf8')),
  circuit.wasmPath,
  witnessFile,
);
const witness = (witnessFile.data ?? new Uint8Array()).slice(witnessStart);
const file = await open(circuit.zkeyPath);
const source = await openSource(file);
const table = await readZkeyTable(source);
function placeOf(name: keyof typeof zkeySection) {
  const place = table.sections.find(({ id }) => id === zkeySection[name]);
  if (place === undefined) throw new Error(`the key has no section ${name}`);
  return place;
}
async function read(name: keyof typeof zkeySection): Promise<Uint8Array> {
  const { start, length } = placeOf(name);
  const bytes = new Uint8Array(length);
  await source.read(start, bytes);
  return bytes;
}
const header = decodeZkeyHeader(await read('header'));
const { domainSize, wires } = header;

const kernels = await createKernels();
const curve = (await curves.getCurveFromName('bn128')) as unknown as CurveOfSnarkjs;
const phases: PhaseMeasurement[] = [];

const rows = await kernels.loadRows({
  ...(await readZkeyCoefficients(table.form, source, placeOf('coefficients'), header)),
  domainSize,
  wires,
});
const scalars = await kernels.loadScalars(wires, witness);
const quotient = await kernels.computeQuotient(rows, scalars);
const quotientBytes = kernels.readScalars(quotient);
const shift = curve.Fr.w[Math.log2(domainSize) + 1] ?? new Uint8Array();
// Any polynomial costs the same; snarkjs transforms three.
const polynomial = quotientBytes.slice();
phases.push({
  power: circuit.power,
  phase: 'quotient (snarkjs: its transforms alone)',
  oursMs: await time(runs, async () => {
    (await kernels.computeQuotient(rows, scalars)).release();
  }),
  snarkjsMs: await time(runs, async () => {
    for (let i = 0; i < 3; i++) {
      const coefficients = await curve.Fr.ifft(polynomial);
      await curve.Fr.fft(await curve.Fr.batchApplyKey(coefficients, curve.Fr.e(1n), shift));
    }
  }),
});

const sums = [
  ['a', 'g1', witness],
  ['b1', 'g1', witness],
  ['b2', 'g2', witness],
  ['c', 'g1', witness.subarray((header.publicSignals + 1) * scalarBytes)],
  ['h', 'g1', quotientBytes],
] as const satisfies readonly (readonly [keyof typeof zkeySection, Group, Uint8Array])[];
for (const [name, group, values] of sums) {
  const points = await read(name);
  const size = zkeyPointBytes[group];
  const loaded = await kernels.loadPoints(group, points.length / size, (start, count, into) => {
    into.set(points.subarray(start * size, (start + count) * size));
    return Promise.resolve();
  });
  const vector = await kernels.loadScalars(values.length / scalarBytes, values);
  phases.push({
    power: circuit.power,
    phase: `sum ${name}, ${group === 'g1' ? 'G1' : 'G2'}`,
    oursMs: await time(runs, () => kernels.computeMsm(loaded, vector)),
    snarkjsMs: await time(runs, () =>
      curve[group === 'g1' ? 'G1' : 'G2'].multiExpAffine(points, values),
    ),
  });
  vector.release();
  loaded.release();
}
await kernels.close();
await file.close();
process.stdout.write(`${JSON.stringify(phases)}\n`, () => process.exit(0));
