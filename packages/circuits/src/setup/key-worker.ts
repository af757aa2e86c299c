/**
 * Worker thread that reads a constraint system, computes its dev key and writes the `.zkey`, so that the caller's event loop
 * stays free.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { computeDomainSize, parseR1cs } from '../r1cs.ts';
import type { VerificationKey } from '../verification-key.ts';
import { computeProvingKey, serializeProvingKey } from './proving-key.ts';
import { deriveToxicValues } from './toxic-values.ts';

export type KeyJob = {
  readonly r1csPath: string;
  readonly zkeyPath: string;
  /** Public text the trapdoor follows from. */
  readonly seed: string;
};

export type KeyResult = {
  readonly shape: {
    readonly constraints: number;
    readonly wires: number;
    readonly publicSignals: number;
    readonly domainSize: number;
    readonly terms: number;
  };
  /** SHA-256, hex. */
  readonly digests: { readonly r1cs: string; readonly zkey: string };
  readonly verificationKey: VerificationKey;
};

export type KeyMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'done'; readonly result: KeyResult };

/** Writes pieces to a new file and returns the SHA-256 of all of them, hex. */
const writeFileOf = (path: string, pieces: Iterable<Uint8Array>): string => {
  const hash = createHash('sha256');
  const file = openSync(path, 'wx');
  try {
    for (const piece of pieces) {
      hash.update(piece);
      for (let written = 0; written < piece.length; ) {
        written += writeSync(file, piece, written);
      }
    }
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
};

const work = async (
  { r1csPath, zkeyPath, seed }: KeyJob,
  onProgress: (fraction: number) => void,
): Promise<KeyResult> => {
  const bytes = readFileSync(r1csPath);
  const r1cs = parseR1cs(bytes);
  const domainSize = computeDomainSize(r1cs);
  const toxic = deriveToxicValues(seed, domainSize);
  const key = await computeProvingKey(r1cs, toxic, { onProgress });
  const { constraints, wires, publicSignals, a, b, c } = r1cs;
  return {
    shape: {
      constraints,
      wires,
      publicSignals,
      domainSize,
      terms: a.wire.length + b.wire.length + c.wire.length,
    },
    digests: {
      r1cs: createHash('sha256').update(bytes).digest('hex'),
      zkey: writeFileOf(zkeyPath, serializeProvingKey(key)),
    },
    verificationKey: key.verificationKey,
  };
};

if (parentPort !== null) {
  const port = parentPort;
  const send = (message: KeyMessage) => {
    port.postMessage(message);
  };
  const result = await work(workerData as KeyJob, (fraction) => {
    send({ type: 'progress', fraction });
  });
  send({ type: 'done', result });
}
