/**
 * Usage: node src/main.ts <circuit.wasm> <circuit.zkey> <input.json>
 *
 * Prints the proof and the public signals as JSON.
 */
import { readFile } from 'node:fs/promises';
import { createProver, readVerificationKey } from '@pool/prover';

const [wasmPath, zkeyPath, inputPath] = process.argv.slice(2);
if (wasmPath === undefined || zkeyPath === undefined || inputPath === undefined) {
  console.error('Usage: node src/main.ts <circuit.wasm> <circuit.zkey> <input.json>');
  process.exit(2);
}

const prover = createProver({ accelerator: 'auto' });
try {
  const input = JSON.parse(await readFile(inputPath, 'utf8')) as Record<string, unknown>;
  const verificationKey = await readVerificationKey(zkeyPath);
  const circuit = { wasmPath, zkeyPath, verificationKey };
  const startedMs = performance.now();
  const result = await prover.prove({ circuit, input });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(2);
  const { kind, detail } = prover.accelerator;
  console.error(`proved and verified in ${seconds} s on ${kind} (${detail})`);
  console.log(JSON.stringify(result, null, 2));
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  console.error(error instanceof Error ? [error.message, cause].join('\n').trim() : error);
  process.exitCode = 1;
} finally {
  await prover.close();
}
