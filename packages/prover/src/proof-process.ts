/**
 * Child process that makes one proof and is then ended: it keeps the engine's memory and threads away from the caller, and an abort
 * is simply the end of the process. (A worker thread will not do: snarkjs' own threads cannot start inside one.)
 *
 * @module
 */
import { groth16, type MemoryFile, wtns } from 'snarkjs';
import type { ProofResult } from './groth16.ts';

export type ProofJob = {
  readonly wasmPath: string;
  readonly zkeyPath: string;
  /** Signals by name. Secret. */
  readonly input: unknown;
};

export type ProofMessage =
  | { readonly type: 'progress'; readonly stage: 'witness' | 'proof'; readonly fraction: number }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'done'; readonly result: ProofResult };

/** What the engine says when it begins a step, and the share of a proof's time that has passed by then (measured, 2 cores). */
const MILESTONES: readonly (readonly [string, number])[] = [
  ['Reading Coeffs', 0.02],
  ['QAP C', 0.12],
  ['Join ABC', 0.22],
  ['Reading B1 Points', 0.36],
  ['Reading B2 Points', 0.52],
  ['Reading C Points', 0.81],
  ['Reading H Points', 0.9],
];

const work = async (job: ProofJob, send: (message: ProofMessage) => void): Promise<void> => {
  send({ type: 'progress', stage: 'witness', fraction: 0 });
  const witness: MemoryFile = { type: 'mem' };
  try {
    await wtns.calculate(job.input, job.wasmPath, witness);
  } catch (error) {
    // The generator names templates and signals, never values.
    send({ type: 'refused', reason: error instanceof Error ? error.message : 'unknown' });
    return;
  }
  send({ type: 'progress', stage: 'proof', fraction: 0 });
  const ignore = () => {};
  const debug = (text: string) => {
    const milestone = MILESTONES.find(([start]) => text.startsWith(start));
    if (milestone !== undefined) {
      send({ type: 'progress', stage: 'proof', fraction: milestone[1] });
    }
  };
  const logger = { debug, info: ignore, warn: ignore, error: ignore };
  const { proof, publicSignals } = await groth16.prove(job.zkeyPath, witness, logger);
  // The caller verifies the proof before it uses it, so its shape is checked there.
  send({ type: 'done', result: { proof, publicSignals } as ProofResult });
};

if (process.send !== undefined) {
  // A caller that died, even by SIGKILL, leaves no proof running behind.
  process.on('disconnect', () => {
    process.exit(1);
  });
  process.once('message', (job: ProofJob) => {
    const send = (message: ProofMessage) => {
      process.send?.(message);
    };
    work(job, send).catch((error: unknown) => {
      send({ type: 'failed', reason: error instanceof Error ? error.message : 'unknown' });
    });
  });
}
