/**
 * Whole proofs of made-up circuits: the same sums from the device and from the processor, bit for bit; a proof that verifies; the times
 * of both, and of snarkjs where it is installed.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Kernels } from '@pool/kernels';
import type { Engine } from '../../src/engine/engine.ts';
import { assembleProof } from '../../src/proof/assemble-proof.ts';
import { verifyProof } from '../../src/proof/verify-proof.ts';
import { createMadeUpCircuit, type MadeUpCircuit } from './made-up-circuit.ts';
import { measure } from './measure.ts';
import type { Report } from './report.ts';

type Snarkjs = {
  readonly groth16: {
    readonly prove: (zkey: string, witness: { type: 'mem'; data: Uint8Array }) => Promise<unknown>;
  };
};

/** Undefined where it is not installed: it is not part of the bundle. */
async function loadSnarkjs(): Promise<Snarkjs | undefined> {
  // A name that bundlers do not resolve.
  const name = ['snark', 'js'].join('');
  try {
    return (await import(name)) as Snarkjs;
  } catch {
    return undefined;
  }
}

const modulusBytes = '010000f093f5e1439170b97948e833285d588181b64550b829a031e1724e6430';

/** A witness as a file of snarkjs' format. */
function encodeWitnessFile(witness: Uint8Array): Uint8Array {
  const head = new Uint8Array(76);
  const view = new DataView(head.buffer);
  head.set(Buffer.from('wtns'), 0);
  [2, 2, 1].forEach((value, k) => {
    view.setUint32(4 + 4 * k, value, true);
  });
  view.setBigUint64(16, 40n, true);
  view.setUint32(24, 32, true);
  head.set(Buffer.from(modulusBytes, 'hex'), 28);
  view.setUint32(60, witness.length / 32, true);
  view.setUint32(64, 2, true);
  view.setBigUint64(68, BigInt(witness.length), true);
  return new Uint8Array(Buffer.concat([head, witness]));
}

async function measureSnarkjs(
  snarkjs: Snarkjs,
  circuit: MadeUpCircuit,
  times: number,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'gpu-check-'));
  try {
    const path = join(folder, 'made-up.zkey');
    const file = await open(path, 'w');
    for (const piece of circuit.serialize()) await file.write(piece);
    await file.close();
    const witness = { type: 'mem' as const, data: encodeWitnessFile(circuit.witness) };
    return await measure(times, () => snarkjs.groth16.prove(path, witness));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export type ProofCheck = {
  readonly kernels: Kernels;
  /** Undefined: the processor alone. */
  readonly device: Engine | undefined;
  readonly processor: Engine;
  /** log2 of the number of rows. */
  readonly log: number;
  readonly times: number;
  readonly withSnarkjs: boolean;
};

/** Proofs requested at the same time. */
const together = 4;

async function measureDevice(device: Engine, { zkey, witness }: MadeUpCircuit, times: number) {
  const startedAt = performance.now();
  const key = await device.load(zkey);
  const loadMs = performance.now() - startedAt;
  const sums = await key.computeSums(witness);
  const deviceMs = await measure(times, () => key.computeSums(witness));
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

  const snarkjs = check.withSnarkjs ? await loadSnarkjs() : undefined;
  const snarkjsMs = snarkjs && (await measureSnarkjs(snarkjs, circuit, 1));
  report.add('proofs', {
    log,
    ...onDevice?.row,
    processorMs,
    snarkjsMs,
    timesProcessor: onDevice && processorMs / onDevice.row.deviceMs,
    timesSnarkjs: onDevice && snarkjsMs && snarkjsMs / onDevice.row.deviceMs,
    assembleMs,
    verifyMs,
    makeMs,
  });
}
