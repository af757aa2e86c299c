/**
 * The commands of `pool-prover`: snarkjs' names, aliases, parameters and default file names, and `bench`. Each imports its code when it
 * runs, because a short command should not wait for an engine.
 *
 * @module
 */

import type { ProveRequest } from '../base/prover.ts';
import type { ProverOptions } from '../create-prover.ts';
import { readArray, readObject, writeJson } from './json-files.ts';
import { createProgress } from './progress.ts';

export type Outcome = {
  /** One JSON object for `--json`. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The result, on standard output. */
  readonly text?: string;
  /** What was done, on standard error. Printed on a terminal only. */
  readonly note?: string;
  readonly exitCode?: number;
};

export type CommandOptions = Pick<ProverOptions, 'keyCacheDir'>;

export type Command = {
  /** Its full name, and the other names that snarkjs accepts. */
  readonly names: readonly [string, ...string[]];
  /** `[file]`: may be left out, then this is the file. `<file>`: required. */
  readonly parameters: string;
  readonly summary: string;
  /** @param values - of all parameters, in their order */
  readonly run: (values: readonly string[], options: CommandOptions) => Promise<Outcome>;
};

/** One proof in one process: on the processor, because a graphics device takes longer to start than such a proof. */
async function proveOnce(
  request: ProveRequest,
  proofPath: string,
  publicPath: string,
  options: CommandOptions,
): Promise<Outcome> {
  const { createProver } = await import('../create-prover.ts');
  const prover = createProver({ accelerator: 'cpu', ...options });
  const progress = createProgress();
  const startedMs = performance.now();
  let seconds: number;
  try {
    const { proof, publicSignals } = await prover
      .prove({ ...request, onProgress: progress.report })
      .finally(progress.end);
    seconds = Number(((performance.now() - startedMs) / 1000).toFixed(3));
    // Closing may wait until a prepared key is written.
    await writeJson(proofPath, proof);
    await writeJson(publicPath, publicSignals);
  } finally {
    await prover.close();
  }
  return {
    json: { proof: proofPath, public: publicPath, seconds },
    note: `Proved and verified in ${seconds} s: ${proofPath}, ${publicPath}`,
  };
}

const prove: Command = {
  names: ['groth16 prove', 'g16p', 'zpw', 'zksnark proof', 'proof'],
  parameters: '[circuit_final.zkey] [witness.wtns] [proof.json] [public.json]',
  summary: 'Proves from a witness',
  run: async ([zkey = '', witness = '', proofPath = '', publicPath = ''], options) =>
    await proveOnce({ circuit: { zkey }, witness }, proofPath, publicPath, options),
};

const fullProve: Command = {
  names: ['groth16 fullprove', 'g16f', 'g16i'],
  parameters: '[input.json] [circuit.wasm] [circuit_final.zkey] [proof.json] [public.json]',
  summary: 'Computes the witness and proves',
  run: async ([inputPath = '', wasm = '', zkey = '', proofPath = '', publicPath = ''], options) => {
    const input = await readObject(inputPath);
    return await proveOnce({ circuit: { wasm, zkey }, input }, proofPath, publicPath, options);
  },
};

const verify: Command = {
  names: ['groth16 verify', 'g16v', 'verify'],
  parameters: '[verification_key.json] [public.json] [proof.json]',
  summary: 'Verifies a proof. The exit code is 1 if it is not valid',
  run: async ([keyPath = '', publicPath = '', proofPath = '']) => {
    const [{ verifyProof }, { toVerifierArguments }] = await Promise.all([
      import('../proof/verify-proof.ts'),
      import('../snarkjs/values.ts'),
    ]);
    const key = await readObject(keyPath);
    const signals = await readArray(publicPath);
    const proof = await readObject(proofPath);
    const valid = verifyProof(...toVerifierArguments(key, signals, proof));
    return {
      json: { valid },
      ...(valid ? { text: 'OK!' } : { text: 'Invalid proof', exitCode: 1 }),
    };
  },
};

const calculate: Command = {
  names: ['wtns calculate', 'wc', 'calculatewitness'],
  parameters: '[circuit.wasm] [input.json] [witness.wtns]',
  summary: 'Computes the witness of an input',
  run: async ([wasm = '', inputPath = '', witness = '']) => {
    const { wtns } = await import('../snarkjs/wtns.ts');
    await wtns.calculate(await readObject(inputPath), wasm, witness);
    return { json: { witness }, note: `Wrote ${witness}, which is secret` };
  },
};

const check: Command = {
  names: ['wtns check', 'wchk'],
  parameters: '[circuit.r1cs] [witness.wtns]',
  summary: 'Checks that a witness satisfies a circuit. The exit code is 1 if it does not',
  run: async ([r1cs = '', witness = '']) => {
    const { wtns } = await import('../snarkjs/wtns.ts');
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const correct = await wtns.check(r1cs, witness, { info: log, warn: log });
    return {
      json: { correct, ...(correct ? {} : { reason: lines[0] }) },
      text: lines.join('\n'),
      ...(correct ? {} : { exitCode: 1 }),
    };
  },
};

const exportWitness: Command = {
  names: ['wtns export json', 'wej'],
  // The help of snarkjs names another file than snarkjs writes.
  parameters: '[witness.wtns] [witness.json]',
  summary: 'Writes the wires of a witness as JSON',
  run: async ([witness = '', json = '']) => {
    const { wtns } = await import('../snarkjs/wtns.ts');
    await writeJson(json, (await wtns.exportJson(witness)).map(String), true);
    return { json: { witness: json }, note: `Wrote ${json}, which is secret` };
  },
};

const exportVerificationKey: Command = {
  names: ['zkey export verificationkey', 'zkev'],
  // The help of snarkjs names another file than snarkjs writes.
  parameters: '[circuit_final.zkey] [circuit_vk.json]',
  summary: 'Writes the verification key of a proving key',
  run: async ([zkey = '', verificationKey = '']) => {
    const { zKey } = await import('../snarkjs/zkey.ts');
    await writeJson(verificationKey, await zKey.exportVerificationKey(zkey));
    return { json: { verificationKey }, note: `Wrote ${verificationKey}` };
  },
};

const exportCallData: Command = {
  names: ['zkey export soliditycalldata', 'zkesc', 'generatecall'],
  parameters: '[public.json] [proof.json]',
  summary: 'Prints the arguments of a Solidity verifier',
  run: async ([publicPath = '', proofPath = '']) => {
    const { renderCallData } = await import('../snarkjs/values.ts');
    const signals = await readArray(publicPath);
    const calldata = renderCallData(await readObject(proofPath), signals);
    return { json: { calldata }, text: calldata };
  },
};

const bench: Command = {
  names: ['bench'],
  parameters: '<circuit.wasm> <circuit.zkey> <input.json>',
  summary: 'Measures warm and cold proofs of a circuit on this machine',
  run: async ([wasm = '', zkey = '', inputPath = ''], options) => {
    const { measureCircuit } = await import('./bench.ts');
    const input = await readObject(inputPath);
    return await measureCircuit({ wasm, zkey, inputPath, input }, options);
  },
};

export const commands: readonly Command[] = [
  prove,
  fullProve,
  verify,
  calculate,
  check,
  exportWitness,
  exportVerificationKey,
  exportCallData,
  bench,
];
