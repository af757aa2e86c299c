/**
 * @pool/prover as a port: circuits by name, one fraction for all stages of a proof, and errors in the project's shape.
 *
 * @module
 */
import type { SolidityProof } from '@pool/api';
import { type CircuitName, type Hex32, PoolError, parseHex32, peerCode } from '@pool/core';
import {
  fromSolidityProof,
  type ProofStage,
  type Prover,
  type SolidityProof as ProverProof,
  toSolidityProof,
  type VerificationKey,
} from '@pool/prover';
import type { ProvedBatch, ProveOptions, WitnessInput } from '../ports.ts';
import type { SpendProverPort } from './spend-ports.ts';

/** Start and length of each stage, as fractions of the whole proof. */
const spans: Readonly<Record<ProofStage, readonly [number, number]>> = {
  artifacts: [0, 0],
  queued: [0, 0],
  witness: [0, 0.1],
  proof: [0.1, 0.85],
  verify: [0.95, 0.05],
};

/** On this machine or on others. */
type AnyProver = Pick<Prover<CircuitName>, 'prove' | 'verify'>;

export type CircuitProver = {
  readonly mode: SpendProverPort['mode'];
  prove(circuit: CircuitName, input: WitnessInput, options: ProveOptions): Promise<ProvedBatch>;
  verify(circuit: CircuitName, proved: ProvedBatch): Promise<boolean>;
};

/**
 * A prover as spends and batches ask it.
 * @param readVerificationKey - of the keys that the prover proves with
 */
export function createCircuitProver(
  prover: AnyProver,
  mode: CircuitProver['mode'],
  readVerificationKey: (circuit: CircuitName) => Promise<VerificationKey>,
): CircuitProver {
  return {
    mode,
    async prove(circuit, input, { signal, onProgress }) {
      try {
        const { proof, publicSignals } = await prover.prove({
          circuit,
          input,
          signal,
          onProgress: (stage, fraction) => {
            const [start, length] = spans[stage];
            onProgress(start + length * fraction);
          },
        });
        return {
          proof: parseProof(toSolidityProof(proof)),
          publicSignals: publicSignals.map(BigInt),
        };
      } catch (error) {
        throw toPoolError(error);
      }
    },
    async verify(circuit, proved) {
      try {
        return await prover.verify(
          await readVerificationKey(circuit),
          proved.publicSignals.map(String),
          fromSolidityProof(proved.proof),
        );
      } catch (error) {
        throw toPoolError(error);
      }
    },
  };
}

function parseProof({ a, b, c }: ProverProof): SolidityProof {
  const word = (value: string) => parseHex32(value);
  const pair = (values: [string, string]): [Hex32, Hex32] => [word(values[0]), word(values[1])];
  return { a: pair(a), b: [pair(b[0]), pair(b[1])], c: pair(c) };
}

/** Errors of the prover have no HTTP status. Their codes and messages are kept. */
function toPoolError(error: unknown): unknown {
  if (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'retryable' in error &&
    typeof error.retryable === 'boolean'
  ) {
    return new PoolError(peerCode(error.code), error.message, {
      status: 500,
      retryable: error.retryable,
      cause: error,
    });
  }
  return error;
}
