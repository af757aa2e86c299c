// `pnpm --silent run prove:public-circuits`: proves two circuits of other authors, with the keys of their own ceremonies, and
// verifies the proofs with snarkjs. The files are fetched from the package registry into .cache and never become part of the repository.
// Writes docs/public-circuits.md: what was proved, on which machine, on which day.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createProver, type VerificationKey, verifyProof } from '@pool/prover';
import { groth16 } from 'snarkjs';
import { run } from '../src/processes.ts';
import { describeMachine } from './results.ts';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, '.cache/public-circuits');

interface PublicCircuit {
  readonly name: string;
  readonly what: string;
  /** npm package, with the exact version. */
  readonly source: string;
  readonly wasm: string;
  readonly zkey: string;
  readonly verificationKey: string;
  readonly input: Readonly<Record<string, unknown>>;
}

function zeros(count: number): string[] {
  return Array.from({ length: count }, () => '0');
}
function paths(count: number, depth: number): string[][] {
  return Array.from({ length: count }, () => zeros(depth));
}

const circuits: readonly PublicCircuit[] = [
  {
    name: 'semaphore-32',
    what: 'membership of an anonymous group of up to 2^32, with a nullifier',
    source: '@zk-kit/semaphore-artifacts@4.13.0',
    wasm: 'package/semaphore-32.wasm',
    zkey: 'package/semaphore-32.zkey',
    verificationKey: 'package/semaphore-32.json',
    input: {
      secret: '1234567890123',
      merkleProofLength: '3',
      merkleProofIndex: '5',
      merkleProofSiblings: ['11', '12', '13', ...zeros(29)],
      message: '7',
      scope: '9',
    },
  },
  {
    name: 'unirep userStateTransition',
    what: 'a user of an attestation system moves its state into the next epoch',
    source: '@unirep/circuits@2.0.0',
    wasm: 'package/zksnarkBuild/userStateTransition.wasm',
    zkey: 'package/zksnarkBuild/userStateTransition.zkey',
    verificationKey: 'package/zksnarkBuild/userStateTransition.vkey.json',
    input: {
      from_epoch: '1',
      to_epoch: '2',
      identity_secret: '1234567890123',
      state_tree_indices: zeros(17),
      state_tree_elements: zeros(17),
      history_tree_indices: zeros(17),
      history_tree_elements: zeros(17),
      attester_id: '5',
      data: zeros(6),
      new_data: paths(3, 6),
      epoch_tree_root: '1',
      epoch_tree_elements: paths(3, 17),
      epoch_tree_indices: paths(3, 17),
      chain_id: '1',
    },
  },
];

/** Downloads and unpacks a package once; returns its folder. */
async function fetchPackage(source: string): Promise<string> {
  const folder = join(cache, source.replaceAll('/', '_'));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  process.stdout.write(`fetching ${source}\n`);
  const packed = await run('npm', ['pack', '--silent', source], { cwd: cache, output: 'collect' });
  const file = packed.combined.trim().split('\n').at(-1) ?? '';
  if (packed.status !== 0) throw new Error(`npm pack ${source} failed: ${packed.combined}`);
  mkdirSync(folder);
  const unpacked = await run('tar', ['xzf', join(cache, file), '-C', folder], {
    cwd: cache,
    output: 'collect',
  });
  if (unpacked.status !== 0) throw new Error(`tar failed: ${unpacked.combined}`);
  return folder;
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

const prover = createProver({ accelerator: 'auto' });
const sections: string[] = [];
for (const circuit of circuits) {
  const folder = await fetchPackage(circuit.source);
  const zkeyPath = join(folder, circuit.zkey);
  const wasmPath = join(folder, circuit.wasm);
  const json = readFileSync(join(folder, circuit.verificationKey), 'utf8');
  const verificationKey = JSON.parse(json) as VerificationKey;
  const request = {
    circuit: { wasm: wasmPath, zkey: zkeyPath, verificationKey },
    input: circuit.input,
  };
  const first = await prover.prove(request);
  const startedAt = performance.now();
  const second = await prover.prove(request);
  const ms = performance.now() - startedAt;
  for (const { proof, publicSignals } of [first, second]) {
    const isVerified =
      (await groth16.verify(verificationKey, publicSignals, proof)) &&
      verifyProof(verificationKey, publicSignals, proof);
    if (!isVerified) throw new Error(`the proof of ${circuit.name} does not verify`);
  }
  const line = `${circuit.name}: proved twice, verified by snarkjs and by us; the second took ${ms.toFixed(0)} ms with its witness`;
  process.stdout.write(`${line}\n`);
  sections.push(
    [
      `## ${circuit.name}`,
      '',
      `${circuit.what[0]?.toUpperCase()}${circuit.what.slice(1)}. From the npm package \`${circuit.source}\`.`,
      '',
      `- zkey, SHA-256 \`${digest(zkeyPath)}\``,
      `- witness program, SHA-256 \`${digest(wasmPath)}\``,
      `- ${line}`,
      `- public signals of the second proof: ${second.publicSignals.map((signal) => `\`${signal}\``).join(', ')}`,
      '',
    ].join('\n'),
  );
}
const { detail } = prover.accelerator;
await prover.close();
const date = new Date().toISOString().slice(0, 10);
writeFileSync(
  join(root, 'docs/public-circuits.md'),
  `# Circuits of other projects\n\nWritten by \`pnpm prove:public-circuits\`. @pool/prover proves circom circuits of other projects, with the keys of their own ceremonies. The command downloads their files, which are not part of this repository.\n\n${describeMachine()}; ${detail}; ${date}.\n\n${sections.join('\n')}`,
);
process.exit(0);
