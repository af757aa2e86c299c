/**
 * snarkjs' `groth16`: proofs, their verification, and the arguments of a Solidity verifier.
 *
 * @module
 */
import type { ProofResult, ProofStage, Prover } from '../base/prover.ts';
import { createProver } from '../create-prover.ts';
import { createProofVerifier, type ProofVerifier } from '../proof/proof-verifier.ts';
import { type InputFile, toFileInput } from './files.ts';
import { renderCallData, toVerifierArguments } from './values.ts';

/** Each of its functions is called if it is present. */
export type Logger = {
  readonly debug?: (message: string) => void;
  readonly info?: (message: string) => void;
  readonly warn?: (message: string) => void;
  readonly error?: (message: string) => void;
};

/** A proof as snarkjs types it. */
export type Proof = {
  pi_a: string[];
  pi_b: string[][];
  pi_c: string[];
  protocol: string;
  curve: string;
};
export type FullProof = { proof: Proof; publicSignals: string[] };

// One prover and one verifier for the process. Their threads start with the first call and do not keep the process alive.
let prover: Prover | undefined;
let verifier: ProofVerifier | undefined;

function getProver(): Prover {
  prover ??= createProver();
  return prover;
}

/** snarkjs has no limits here. Ten minutes bound the time of a call that can never end. */
const verifierLimits = { maximumCalls: Number.MAX_SAFE_INTEGER, timeoutMs: 600_000 };

function getVerifier(): ProofVerifier {
  verifier ??= createProofVerifier(verifierLimits);
  return verifier;
}

function toFullProof({ proof, publicSignals }: ProofResult): FullProof {
  const { pi_a, pi_b, pi_c, protocol, curve } = proof;
  return {
    proof: {
      pi_a: [...pi_a],
      pi_b: pi_b.map((coordinate) => [...coordinate]),
      pi_c: [...pi_c],
      protocol,
      curve,
    },
    publicSignals: [...publicSignals],
  };
}

/** Logs each stage once. */
function logStages(logger: Logger | undefined) {
  let last: ProofStage | undefined;
  return (stage: ProofStage) => {
    if (stage !== last) {
      last = stage;
      logger?.debug?.(`Stage: ${stage}`);
    }
  };
}

/**
 * Computes the witness and proves. The proof is verified before it is returned.
 * @param input - signals by name. Secret
 * @param wtnsCalcOptions, proverOptions - accepted and not used: the options of snarkjs are about its own threads and memory
 * @throws ProverError
 */
async function fullProve(
  input: Readonly<Record<string, unknown>>,
  wasmFile: InputFile,
  zkeyFileName: InputFile,
  logger?: Logger,
  _wtnsCalcOptions?: object,
  _proverOptions?: object,
): Promise<FullProof> {
  return toFullProof(
    await getProver().prove({
      circuit: { wasm: toFileInput(wasmFile), zkey: toFileInput(zkeyFileName) },
      input,
      onProgress: logStages(logger),
    }),
  );
}

/**
 * Proves from a witness file. The proof is verified before it is returned.
 * @param witnessFileName - a `.wtns` file. Secret
 * @throws ProverError
 */
async function prove(
  zkeyFileName: InputFile,
  witnessFileName: InputFile,
  logger?: Logger,
  _options?: object,
): Promise<FullProof> {
  return toFullProof(
    await getProver().prove({
      circuit: { zkey: toFileInput(zkeyFileName) },
      witness: toFileInput(witnessFileName),
      onProgress: logStages(logger),
    }),
  );
}

/**
 * Verifies in its own thread.
 * @param vk_verifier, publicSignals, proof - as snarkjs writes them; BigInts and `0x` strings are accepted too
 * @returns false if the proof or a public signal is malformed, out of range or wrong
 * @throws ProverError `verification_key_malformed`, `verifier_unavailable`
 */
async function verify(
  vk_verifier: object,
  publicSignals: readonly unknown[],
  proof: object,
  logger?: Logger,
): Promise<boolean> {
  const isValid = await getVerifier().verify(
    ...toVerifierArguments(vk_verifier, publicSignals, proof),
  );
  if (isValid) {
    logger?.info?.('OK!');
  } else {
    logger?.error?.('Invalid proof');
  }
  return isValid;
}

/**
 * The arguments of a Solidity verifier, as text for a call by hand.
 * @throws ProverError `argument_invalid` for a proof of another shape
 */
function exportSolidityCallData(proof: object, pub: readonly unknown[]): Promise<string> {
  return Promise.resolve().then(() => renderCallData(proof, pub));
}

export const groth16 = { fullProve, prove, verify, exportSolidityCallData };
