// The witness of one circuit as a file, by circom's program in WebAssembly: `run-witness.ts <circuit as JSON> <path>`. rapidsnark's
// command takes its witness from a file.
import { readFile } from 'node:fs/promises';
import { wtns } from 'snarkjs';
import type { BenchCircuit } from './circuits.ts';

const circuit = JSON.parse(process.argv[2] ?? '') as BenchCircuit;
const input: unknown = JSON.parse(await readFile(circuit.inputPath, 'utf8'));
await wtns.calculate(input, circuit.wasmPath, process.argv[3] ?? '');
process.exit(0);
