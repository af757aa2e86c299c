/**
 * Worker thread that reads a constraint system, computes its dev key and writes it, so that the caller's event loop stays free.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import {
  createKernels,
  encodeZkeyCoefficients,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  measureZkeyCoefficients,
  toVerificationKey,
  type VerificationKey,
  type ZkeyForm,
  type ZkeyHeaderFields,
  zkeySection,
} from '@pool/kernels';
import { computeDomainSize, readR1cs } from '../constraints/r1cs.ts';
import { computeProvingKey, type KeyPart } from './proving-key.ts';
import { deriveToxicValues } from './toxic-values.ts';

// The parts of a proving key as the bytes of its file, in either form.

function* encodeSection(id: number, ...parts: Uint8Array[]): Generator<Uint8Array> {
  yield encodeZkeySectionHead(
    id,
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  yield* parts;
}

/** The bytes of one part, piece by piece; the header includes the beginning of the file. */
export function* serializeKeyPart(part: KeyPart, form: ZkeyForm): Generator<Uint8Array> {
  switch (part.type) {
    case 'header':
      yield encodeZkeyStart(form, 10);
      yield* encodeSection(zkeySection.protocol, Uint8Array.of(1, 0, 0, 0));
      yield* encodeSection(zkeySection.header, encodeZkeyHeader(part.header));
      return;
    case 'coefficients':
      if (form === 'standard') {
        const length = measureZkeyCoefficients(form, part.coefficients);
        yield encodeZkeySectionHead(zkeySection.coefficients, length);
        yield* encodeZkeyCoefficients(form, part.coefficients);
      } else {
        // Small enough to be kept in memory. Measuring it would cost as much as encoding it.
        const pieces = [...encodeZkeyCoefficients(form, part.coefficients)];
        yield* encodeSection(zkeySection.coefficients, ...pieces);
      }
      return;
    case 'points':
      yield* encodeSection(zkeySection[part.section], part.points);
      return;
    case 'contributions':
      yield* encodeSection(zkeySection.contributions, part.circuitHash, new Uint8Array(4));
      return;
  }
}

/** The requested files. Their paths must not exist yet. */
export type KeyJob = {
  readonly r1csPath: string;
  /** Path of the standard form, if it is requested. */
  readonly zkeyPath?: string | undefined;
  /** Path of the compact form, if it is requested. */
  readonly compactPath?: string | undefined;
  /** Public text from which the trapdoor is derived. */
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
  /** SHA-256 of the written files, hex. */
  readonly digests: {
    readonly zkey?: string | undefined;
    readonly compactKey?: string | undefined;
  };
  readonly verificationKey: VerificationKey;
};

export type KeyMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'done'; readonly result: KeyResult };

/** Share of the time before the key is started: reading the constraints. */
const reading = 0.1;

type KeyFile = {
  readonly write: (part: KeyPart) => void;
  /** SHA-256 of everything written, hex. */
  readonly digest: () => string;
  readonly close: () => void;
};

function createKeyFile(path: string, form: ZkeyForm): KeyFile {
  const hash = createHash('sha256');
  const file = openSync(path, 'wx');
  return {
    write: (part) => {
      for (const piece of serializeKeyPart(part, form)) {
        hash.update(piece);
        for (let written = 0; written < piece.length; ) {
          written += writeSync(file, piece, written);
        }
      }
    },
    digest: () => hash.digest('hex'),
    close: () => {
      closeSync(file);
    },
  };
}

async function work(
  { r1csPath, zkeyPath, compactPath, seed }: KeyJob,
  onProgress: (fraction: number) => void,
): Promise<KeyResult> {
  const r1cs = readR1cs(r1csPath);
  onProgress(reading);
  const { constraints, wires, publicSignals, a, b, c } = r1cs;
  const domainSize = computeDomainSize(r1cs);
  const terms = a.wire.length + b.wire.length + c.wire.length;
  const parts = { header: undefined, ic: undefined } as {
    header: ZkeyHeaderFields | undefined;
    ic: Uint8Array | undefined;
  };
  const standard = zkeyPath === undefined ? undefined : createKeyFile(zkeyPath, 'standard');
  const compact = compactPath === undefined ? undefined : createKeyFile(compactPath, 'compact');
  const kernels = await createKernels();
  try {
    const toxic = deriveToxicValues(seed, domainSize);
    for await (const part of computeProvingKey(kernels, r1cs, toxic, {
      onProgress: (fraction) => {
        onProgress(reading + (1 - reading) * fraction);
      },
    })) {
      standard?.write(part);
      compact?.write(part);
      if (part.type === 'header') {
        parts.header = part.header;
      } else if (part.type === 'points' && part.section === 'ic') {
        parts.ic = part.points;
      }
    }
  } finally {
    standard?.close();
    compact?.close();
    await kernels.close();
  }
  if (parts.header === undefined || parts.ic === undefined) {
    throw new TypeError('the key has no header or no public wires');
  }
  return {
    shape: { constraints, wires, publicSignals, domainSize, terms },
    digests: { zkey: standard?.digest(), compactKey: compact?.digest() },
    verificationKey: toVerificationKey(parts.header, parts.ic),
  };
}

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
