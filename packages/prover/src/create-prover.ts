/**
 * A prover on this machine's processor, through snarkjs in a process of its own.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { ProverError } from './errors.ts';
import type { ProofResult } from './groth16.ts';
import type {
  ArtifactSource,
  ProofStage,
  ProveRequest,
  Prover,
  ProvingArtifact,
} from './prover.ts';
import { runProof } from './run-proof.ts';
import { verifyProof } from './verify-proof.ts';

/** `auto`: the best there is. */
export type AcceleratorChoice = 'auto' | 'webgpu' | 'cpu';

export type ProverOptions<C extends string = string> = {
  /** Needed only to prove by a circuit's name. */
  readonly artifacts?: ArtifactSource<C> | undefined;
  /** Default: `auto`. */
  readonly accelerator?: AcceleratorChoice | undefined;
};

/**
 * Creates a prover; starts nothing until the first proof.
 * @throws ProverError `accelerator_unavailable` if a GPU is demanded: this engine has none
 */
export const createProver = <C extends string = string>(
  options: ProverOptions<C> = {},
): Prover<C> => {
  if (options.accelerator === 'webgpu') {
    throw new ProverError(
      'accelerator_unavailable',
      'This version proves on the processor only. Choose the accelerator auto or cpu.',
    );
  }
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let turn: Promise<unknown> = Promise.resolve();
  let proofs = 0;
  let failures = 0;
  let busyMs = 0;

  const closed = () => new ProverError('prover_closed', 'The prover is closed.');

  const locate = async (
    circuit: C | ProvingArtifact,
    signal: AbortSignal,
    report: (stage: ProofStage, fraction: number) => void,
  ): Promise<ProvingArtifact> => {
    if (typeof circuit !== 'string') {
      return circuit;
    }
    if (options.artifacts === undefined) {
      throw new TypeError('a prover without an artifact source needs the files themselves');
    }
    report('artifacts', 0);
    return await options.artifacts.ensureArtifacts(circuit, {
      signal,
      onProgress: (_stage, fraction) => {
        report('artifacts', fraction);
      },
    });
  };

  const proveNow = async (request: ProveRequest<C>, signal: AbortSignal): Promise<ProofResult> => {
    const report = (stage: ProofStage, fraction: number) => request.onProgress?.(stage, fraction);
    signal.throwIfAborted();
    const artifact = await locate(request.circuit, signal, report);
    const { wasmPath, zkeyPath, verificationKey } = artifact;
    const result = await runProof(
      { wasmPath, zkeyPath, input: request.input },
      { signal, onProgress: report },
    );
    report('verify', 0);
    if (!verifyProof(verificationKey, result.publicSignals, result.proof)) {
      throw new ProverError(
        'proof_failed',
        'The proof does not verify under its verification key; the artifacts may not belong together.',
        { retryable: true },
      );
    }
    report('verify', 1);
    return result;
  };

  const prove: Prover<C>['prove'] = async (request) => {
    const aborting = new AbortController();
    const onAbort = () => {
      aborting.abort(
        new ProverError('proof_aborted', 'The proof was aborted.', {
          cause: request.signal?.reason,
        }),
      );
    };
    const onClose = () => {
      aborting.abort(closed());
    };
    if (closing.signal.aborted) {
      throw closed();
    }
    if (request.signal?.aborted) {
      onAbort();
    }
    request.signal?.addEventListener('abort', onAbort, { once: true });
    closing.signal.addEventListener('abort', onClose, { once: true });
    request.onProgress?.('queued', 0);
    const proof = turn.then(() => proveNow(request, aborting.signal));
    // Nobody waits behind a failure.
    turn = proof.catch(() => undefined);
    running.add(turn);
    const startedMs = performance.now();
    try {
      const result = await proof;
      proofs += 1;
      busyMs += performance.now() - startedMs;
      return result;
    } catch (error) {
      failures += 1;
      aborting.signal.throwIfAborted();
      throw error;
    } finally {
      running.delete(turn);
      request.signal?.removeEventListener('abort', onAbort);
      closing.signal.removeEventListener('abort', onClose);
    }
  };

  const accelerator = {
    kind: 'cpu',
    detail: `snarkjs, ${availableParallelism()} threads`,
  } as const;
  return {
    accelerator,
    ready: () => Promise.resolve(accelerator),
    prove,
    verify: (verificationKey, publicSignals, proof) =>
      Promise.resolve().then(() => verifyProof(verificationKey, publicSignals, proof)),
    metrics: () => ({
      queued: Math.max(0, running.size - 1),
      running: Math.min(1, running.size),
      proofs,
      failures,
      secondsBusy: busyMs / 1000,
      residentKeys: 0,
      residentBytes: 0,
      memoryBudgetBytes: 0,
      evictions: 0,
      acceleratorLosses: 0,
      wrongResults: 0,
    }),
    close: async () => {
      closing.abort();
      await Promise.all(running);
    },
  };
};
