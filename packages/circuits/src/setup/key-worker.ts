/**
 * Worker thread that reads a constraint system, computes its dev key and writes it, so that the caller's event loop stays free.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { computeDomainSize, readR1cs } from '../r1cs.ts';
import type { VerificationKey } from '../verification-key.ts';
import { generatorMultiplier } from './compute-points.ts';
import { computeProvingKey, exportVerificationKey, serializeProvingKey } from './proving-key.ts';
import { deriveToxicValues } from './toxic-values.ts';

/** Each path that is named must not exist yet; the digests of both forms are computed in any case. */
export type KeyJob = {
  readonly r1csPath: string;
  /** Where the standard form goes. */
  readonly zkeyPath?: string | undefined;
  /** Where the compact form goes. */
  readonly compactPath?: string | undefined;
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
  /** SHA-256 of the key in its standard and in its compact form, hex. */
  readonly digests: { readonly zkey: string; readonly compactKey: string };
  readonly verificationKey: VerificationKey;
};

export type KeyMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'done'; readonly result: KeyResult };

/** The SHA-256 of pieces, hex. They are also written to a new file, if one is named. */
const digestPieces = (pieces: Iterable<Uint8Array>, path: string | undefined): string => {
  const hash = createHash('sha256');
  const file = path === undefined ? undefined : openSync(path, 'wx');
  try {
    for (const piece of pieces) {
      hash.update(piece);
      for (let written = 0; file !== undefined && written < piece.length; ) {
        written += writeSync(file, piece, written);
      }
    }
  } finally {
    if (file !== undefined) {
      closeSync(file);
    }
  }
  return hash.digest('hex');
};

const work = async (
  { r1csPath, zkeyPath, compactPath, seed }: KeyJob,
  onProgress: (fraction: number) => void,
): Promise<KeyResult> => {
  const r1cs = readR1cs(r1csPath);
  const { constraints, wires, publicSignals, a, b, c } = r1cs;
  const domainSize = computeDomainSize(r1cs);
  const toxic = deriveToxicValues(seed, domainSize);
  const key = await computeProvingKey(generatorMultiplier, r1cs, toxic, { onProgress });
  return {
    shape: {
      constraints,
      wires,
      publicSignals,
      domainSize,
      terms: a.wire.length + b.wire.length + c.wire.length,
    },
    digests: {
      zkey: digestPieces(serializeProvingKey(key, 'standard'), zkeyPath),
      compactKey: digestPieces(serializeProvingKey(key, 'compact'), compactPath),
    },
    verificationKey: exportVerificationKey(key),
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
