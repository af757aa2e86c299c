/**
 * Whole proofs of real circuits, from input to verified proof, by the prover that services use: on the card, and on the processor. A
 * folder contains input.json, key.zkey and verification-key.json, circom's circuit.wasm, and maybe accelerated.wasm, which is then used.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { VerificationKey } from '@pool/kernels';
import type { ProofStage } from '../../src/base/prover.ts';
import { createProver, type ProverOptions } from '../../src/create-prover.ts';
import { measure, type Report } from './report.ts';

/** Proofs requested at the same time. */
const together = 16;

/** Milliseconds of each stage of one proof. */
function createStopwatch() {
  const stages = new Map<ProofStage, number>();
  let sinceMs = performance.now();
  let current: ProofStage = 'queued';
  return {
    turnTo: (stage: ProofStage): void => {
      const nowMs = performance.now();
      stages.set(current, (stages.get(current) ?? 0) + nowMs - sinceMs);
      [current, sinceMs] = [stage, nowMs];
    },
    read: (stage: ProofStage) => stages.get(stage),
  };
}

async function readFolder(folder: string) {
  const readJson = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, name), 'utf8'));
  return {
    standard: join(folder, 'circuit.wasm'),
    accelerated: join(folder, 'accelerated.wasm'),
    zkey: join(folder, 'key.zkey'),
    verificationKey: (await readJson('verification-key.json')) as VerificationKey,
    input: (await readJson('input.json')) as Readonly<Record<string, unknown>>,
  };
}

/** Every proof is verified by the prover, under the verification key of the folder. */
export async function checkCircuit(
  report: Report,
  folder: string,
  times: number,
  options: ProverOptions,
): Promise<void> {
  const { standard, accelerated, zkey, verificationKey, input } = await readFolder(folder);
  const wasm = existsSync(accelerated) ? accelerated : standard;
  const circuit = { wasm, zkey, verificationKey };
  const prover = createProver(options);
  try {
    const startMs = await measure(1, () => prover.ready());
    const firstMs = await measure(1, () => prover.prove({ circuit, input }));
    let best = Number.POSITIVE_INFINITY;
    let watch = createStopwatch();
    for (let k = 0; k < times; k++) {
      const own = createStopwatch();
      const ms = await measure(1, () => prover.prove({ circuit, input, onProgress: own.turnTo }));
      own.turnTo('queued');
      if (ms < best) [best, watch] = [ms, own];
    }
    const togetherMs = await measure(1, () =>
      Promise.all(Array.from({ length: together }, () => prover.prove({ circuit, input }))),
    );
    report.add('circuits', {
      circuit: basename(folder),
      prover: options.accelerator,
      warmMs: best,
      eachOf16Ms: togetherMs / together,
      witnessMs: watch.read('witness'),
      sumsMs: watch.read('proof'),
      verifyMs: watch.read('verify'),
      startMs,
      firstMs,
    });
  } finally {
    await prover.close();
  }
}

type Snarkjs = {
  readonly groth16: {
    readonly fullProve: (
      input: unknown,
      wasm: string,
      zkey: string,
    ) => Promise<{ readonly proof: unknown; readonly publicSignals: unknown }>;
    readonly verify: (key: unknown, publicSignals: unknown, proof: unknown) => Promise<boolean>;
  };
};

/** In a variable: it is not part of the bundle. */
const peerName = 'snarkjs';

/** The peer, with circom's program, if it is installed beside this script. It keeps threads alive. */
export async function measureSnarkjs(report: Report, folder: string): Promise<void> {
  const peer = (await import(peerName).catch(() => undefined)) as Snarkjs | undefined;
  if (peer === undefined) return;
  const { standard, zkey, verificationKey, input } = await readFolder(folder);
  const warmMs = await measure(2, async () => {
    const { proof, publicSignals } = await peer.groth16.fullProve(input, standard, zkey);
    const isValid = await peer.groth16.verify(verificationKey, publicSignals, proof);
    report.check(`proof of ${folder} by snarkjs verifies`, isValid);
  });
  report.add('circuits', { circuit: basename(folder), prover: peerName, warmMs });
}
