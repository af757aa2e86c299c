/**
 * Poseidon on the kernels: many hashes on all cores, for the commitments of a scan and for building trees. The same hash as
 * poseidon.ts, with the same vectors.
 *
 * @module
 */
import { assertField, type Field, PoolError } from '@pool/core';
import type { ScanKernels } from '@pool/kernels';
import { poseidonParameters } from './poseidon-parameters.ts';

const wordBytes = 32;

/**
 * `H_k` of each row, k from 1 to 6, all rows of one length.
 * @param options.signal - ends the work; it rejects with the signal's reason
 * @throws PoolError `invalid_field_element` for an input outside [0, r), `invalid_value` for another k or rows of
 *   several lengths
 */
export async function hashPoseidonMany(
  kernels: Pick<ScanKernels, 'hashPoseidonMany'>,
  rows: readonly (readonly bigint[])[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly Field[]> {
  const arity = rows[0]?.length;
  if (arity === undefined) {
    return [];
  }
  const parameters = poseidonParameters(arity);
  if (rows.some((row) => row.length !== arity)) {
    throw new PoolError('invalid_value', 'rows must have one length');
  }
  const inputs = new Uint8Array(rows.length * arity * wordBytes);
  const view = new DataView(inputs.buffer);
  rows.flat().forEach((value, place) => {
    writeWord(view, place, assertField(value));
  });
  try {
    const hashes = await kernels.hashPoseidonMany(parameters, inputs, options);
    const hashView = new DataView(hashes.buffer, hashes.byteOffset, hashes.byteLength);
    return rows.map((_, place) => assertField(readWord(hashView, place)));
  } finally {
    inputs.fill(0);
  }
}

const limbs = [0, 1, 2, 3] as const;

function writeWord(view: DataView, place: number, value: bigint): void {
  for (const limb of limbs) {
    const part = BigInt.asUintN(64, value >> BigInt(64 * limb));
    view.setBigUint64(place * wordBytes + 8 * limb, part, true);
  }
}

function readWord(view: DataView, place: number): bigint {
  return limbs.reduceRight<bigint>(
    (value, limb) => (value << 64n) | view.getBigUint64(place * wordBytes + 8 * limb, true),
    0n,
  );
}
