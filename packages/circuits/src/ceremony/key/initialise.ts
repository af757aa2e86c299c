/**
 * Starts a ceremony: writes the key before any contribution (protocol §9).
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { PoolError } from '@pool/core';
import { zkeySection } from '@pool/kernels';
import { type R1cs, readR1cs } from '../../constraints/r1cs.ts';
import { openPowersOfTau } from '../files/powers-of-tau.ts';
import { type WriteOptions, writeKeyAtomically } from '../files/section-writer.ts';
import type { PointArithmetic } from '../points/point-sums.ts';
import { computeInitialSections, type InitialKeyOptions, initialSections } from './initial-key.ts';
import { type OriginOptions, requireKnownOrigin } from './powers-origin.ts';

export type InitialiseOptions = InitialKeyOptions &
  WriteOptions &
  OriginOptions & { readonly arithmetic: PointArithmetic };

/** Reads a circuit's constraints, a few megabytes of the file at a time. @throws PoolError `invalid_option`, `artifact_malformed` */
export function readCircuit(path: string): R1cs {
  if (!existsSync(path)) {
    throw new PoolError('invalid_option', `There is no constraint file ${path}.`);
  }
  return readR1cs(path);
}

/**
 * Writes the initial key of a circuit. Deterministic, and byte for byte what snarkjs writes.
 * @returns the circuit hash (64 bytes), which everyone else also obtains
 * @throws PoolError `invalid_option`, `artifact_malformed`, and
 *   like `requireKnownOrigin`
 */
export async function initialiseKey(
  paths: { readonly r1cs: string; readonly ptau: string; readonly out: string },
  options: InitialiseOptions,
): Promise<{ readonly circuitHash: Uint8Array }> {
  const r1cs = readCircuit(paths.r1cs);
  const powers = await openPowersOfTau(paths.ptau);
  try {
    await requireKnownOrigin(paths.ptau, powers, options.ptauSha256, options.signal);
    const parts = { r1cs, powers, arithmetic: options.arithmetic };
    return await writeKeyAtomically(paths.out, options, initialSections, async (append) => {
      let circuitHash = new Uint8Array(0);
      for await (const section of computeInitialSections(parts, options)) {
        await append(section);
        if (section.id === zkeySection.contributions) {
          for await (const record of section.chunks) {
            circuitHash = Uint8Array.from(record.subarray(0, 64));
          }
        }
      }
      return { circuitHash };
    });
  } finally {
    await powers.close();
  }
}
