/**
 * Runs one proof in a process of its own.
 *
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process';
import { ProverError } from './errors.ts';
import type { ProofResult } from './groth16.ts';
import type { ProofJob, ProofMessage } from './proof-process.ts';

export type RunProofOptions = {
  /** Ends the process. Its reason, a ProverError, is what the promise rejects with. */
  readonly signal: AbortSignal;
  readonly onProgress: (stage: 'witness' | 'proof', fraction: number) => void;
};

/** The child's program lies beside this module: as TypeScript in the repository, as JavaScript once built. */
const programUrl = (): URL =>
  new URL(
    import.meta.url.endsWith('.ts') ? './proof-process.ts' : './proof-process.js',
    import.meta.url,
  );

/** Kills the child and waits until it is gone. */
const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => {
      resolve();
    });
    child.kill('SIGKILL');
  });

/**
 * @returns an unverified proof
 * @throws ProverError `witness_refused`, `proof_failed`, or the signal's reason
 */
export const runProof = async (job: ProofJob, options: RunProofOptions): Promise<ProofResult> => {
  const { signal, onProgress } = options;
  signal.throwIfAborted();
  // No environment and no flags of ours: the child needs none, and secrets of the caller's environment stay with the caller.
  // The advanced serialization carries BigInts.
  const child = fork(programUrl(), {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let onAbort = () => {};
  try {
    return await new Promise<ProofResult>((resolve, reject) => {
      const fail = (cause: unknown) => {
        reject(
          new ProverError('proof_failed', 'The proving engine stopped before it was done.', {
            retryable: true,
            cause,
          }),
        );
      };
      onAbort = () => {
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      child.on('message', (message) => {
        // The child is our own program; nobody else can write into this channel.
        const said = message as ProofMessage;
        switch (said.type) {
          case 'progress':
            onProgress(said.stage, said.fraction);
            break;
          case 'refused':
            reject(
              new ProverError('witness_refused', 'The input does not satisfy the circuit.', {
                cause: new Error(said.reason),
              }),
            );
            break;
          case 'failed':
            fail(new Error(said.reason));
            break;
          case 'done':
            resolve(said.result);
            break;
        }
      });
      child.on('error', fail);
      child.on('exit', (code) => {
        fail(new Error(`the proving process ended with code ${code}`));
      });
      child.send(job, (error) => {
        if (error !== null) {
          fail(error);
        }
      });
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
    await end(child);
  }
};
