/**
 * Usage: node src/main.ts <circuit.wasm> <circuit.zkey> [port]
 *
 * An HTTP service: POST the input of the circuit as JSON, and get the proof, its public signals and the call of a Solidity verifier.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as snarkjs from '@pool/prover/snarkjs';

const [wasm, zkey, port = '0'] = process.argv.slice(2);
if (wasm === undefined || zkey === undefined) {
  console.error('Usage: node src/main.ts <circuit.wasm> <circuit.zkey> [port]');
  process.exit(2);
}

async function prove(body: string) {
  const input = JSON.parse(body) as Record<string, unknown>;
  const { proof, publicSignals } = await snarkjs.groth16.fullProve(input, wasm ?? '', zkey ?? '');
  const call = await snarkjs.groth16.exportSolidityCallData(proof, publicSignals);
  return { proof, publicSignals, call };
}

const server = createServer((request, response) => {
  text(request)
    .then(prove)
    .then(
      (result) => response.end(JSON.stringify(result)),
      (error: unknown) => {
        response.statusCode = 400;
        response.end(error instanceof Error ? error.message : String(error));
      },
    );
});
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
