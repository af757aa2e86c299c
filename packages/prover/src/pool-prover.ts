/**
 * `pool-prover`: snarkjs' command lines for Groth16 proofs, and a benchmark of a circuit. For Node.
 *
 * @module
 */
import { runCommandLine } from './command/command-line.ts';

process.exitCode = await runCommandLine(process.argv.slice(2));
