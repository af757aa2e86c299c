/**
 * Usage: node src/main.ts <circuit.wasm> <circuit.zkey> <input.json>
 *
 * Prints the proof and the public signals as JSON.
 */
import { readFile } from 'node:fs/promises';
import { createProver } from '@pool/prover';

const [wasm, zkey, inputPath] = process.argv.slice(2);
if (wasm === undefined || zkey === undefined || inputPath === undefined) {
  console.error('Usage: node src/main.ts <circuit.wasm> <circuit.zkey> <input.json>');
  process.exit(2);
}

const prover = createProver({ accelerator: 'auto' });
try {
  const input = JSON.parse(await readFile(inputPath, 'utf8')) as Record<string, unknown>;
  const startedMs = performance.now();
  const result = await prover.prove({ circuit: { wasm, zkey }, input });
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
