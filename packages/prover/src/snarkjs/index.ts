/**
 * The part of snarkjs' interface that makes and checks Groth16 proofs over BN254, for programs that import `snarkjs` today. Names,
 * arguments and results are those of snarkjs 0.7; the README lists the differences.
 *
 * @example
 * import * as snarkjs from '@pool/prover/snarkjs';
 * const { proof, publicSignals } = await snarkjs.groth16.fullProve(input, 'circuit.wasm', 'circuit.zkey');
 *
 * @module
 */

export type { InputFile, OutputFile } from './files.ts';
export { type FullProof, groth16, type Logger, type Proof } from './groth16.ts';
export { wtns } from './wtns.ts';
export { zKey } from './zkey.ts';
