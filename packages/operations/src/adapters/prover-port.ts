/**
 * The provers of the pipelines: circuits by batch size or by name, and the pinned verification keys.
 *
 * @module
 */
import { type VerificationKey, verificationKeys } from '@pool/circuits';
import type { CircuitName } from '@pool/core';
import type { Prover } from '@pool/prover';
import { createCircuitProver, type SpendProverPort } from '@pool/wallet';
import type { ProverPort } from '../ports.ts';

/** On this machine or on others. */
type AnyProver = Pick<Prover<CircuitName>, 'prove' | 'verify'>;

/** Reads the key that belongs to the keys that the prover proves with. */
type ReadKey = (circuit: CircuitName) => Promise<VerificationKey>;

async function readPinnedKey(circuit: CircuitName): Promise<VerificationKey> {
  return verificationKeys[circuit];
}

/**
 * For disbursements.
 * @param readVerificationKey - of the keys that the prover proves with. Default: the pinned development keys
 */
export function createProverPort(
  prover: AnyProver,
  mode: ProverPort['mode'],
  readVerificationKey: ReadKey = readPinnedKey,
): ProverPort {
  const circuits = createCircuitProver(prover, mode, readVerificationKey);
  return {
    mode,
    prove: (size, input, options) => circuits.prove(`fund-${size}`, input, options),
    verify: (size, proved) => circuits.verify(`fund-${size}`, proved),
  };
}

/**
 * For spends.
 * @param readVerificationKey - of the keys that the prover proves with. Default: the pinned development keys
 */
export function createSpendProverPort(
  prover: AnyProver,
  mode: SpendProverPort['mode'],
  readVerificationKey: ReadKey = readPinnedKey,
): SpendProverPort {
  return createCircuitProver(prover, mode, readVerificationKey);
}
