/**
 * A prover on top of engines: it accepts requests, orders them, counts them, and ends them on close.
 *
 * @module
 */

import { moduleBeside, type WebWorkerConstructor } from '@pool/kernels';
import { assertArtifact, assertProveRequest } from '../base/check-arguments.ts';
import { argumentError, closedError, ProverError } from '../base/errors.ts';
import { describeFile } from '../base/file-input.ts';
import type { KeyStore } from '../base/key-store.ts';
import type {
  ArtifactSource,
  LoadRequest,
  ProofProgress,
  ProofResult,
  ProveRequest,
  Prover,
  ProvingArtifact,
} from '../base/prover.ts';
import type { AcceleratorDescription } from '../base/prover-metrics.ts';
import { createTurns, untilAborted } from '../base/turns.ts';
import { createWorkerLink } from '../base/worker-link.ts';
import type { ProverIncident } from '../engine/accelerator-record.ts';
import type { Engine } from '../engine/engine.ts';
import {
  type AcceleratorChoice,
  createEngineKeeper,
  type EngineFactories,
} from '../engine/engine-keeper.ts';
import {
  createWitnessRunner,
  defaultWitnessLimits,
  type WitnessLimits,
} from '../witness/witness-runner.ts';
import type { AssembleProofRequest, AssembleProofResult } from './assemble-proof-worker.ts';
import { loadKey, makeProof, type ProofTask } from './make-proof.ts';
import { createProofQueue } from './proof-queue.ts';
import { createProofStatistics } from './proof-statistics.ts';
import { verifyProof } from './verify-proof.ts';

declare const Worker: WebWorkerConstructor;

export type EngineProverOptions<C extends string> = {
  readonly artifacts?: ArtifactSource<C> | undefined;
  readonly accelerator: AcceleratorChoice;
  readonly factories: EngineFactories;
  /** Memory for keys, in bytes: in the process, and on the device. */
  readonly memoryBudgetBytes: number;
  readonly deviceMemoryBudgetBytes: number;
  /** Keeps prepared keys for later processes. */
  readonly keyStore?: KeyStore | undefined;
  readonly witness?: WitnessLimits | undefined;
  readonly onIncident?: ((incident: ProverIncident) => void) | undefined;
};

/** onSums: called when the sums begin. */
type Job = { readonly start: (onSums: () => void) => Promise<unknown> };

/** One in its witness, one in its sums, one that is assembled and verified. More would only hold witnesses. */
const mostRunning = 3;

/** Joins the caller's signal and the prover's closing. The reason is always a ProverError, except for an Error of a callback. */
function joinCaller(caller: AbortSignal | undefined, closing: AbortSignal) {
  const joined = new AbortController();
  const onAbort = () => {
    joined.abort(
      new ProverError('proof_aborted', 'The proof was aborted.', { cause: caller?.reason }),
    );
  };
  const onClose = () => {
    joined.abort(closedError());
  };
  if (caller?.aborted) {
    onAbort();
  }
  caller?.addEventListener('abort', onAbort, { once: true });
  closing.addEventListener('abort', onClose, { once: true });
  return {
    signal: joined.signal,
    /** Ends the proof with an error that the caller's own callback threw. */
    fail: (error: unknown) => {
      joined.abort(
        error instanceof Error
          ? error
          : new ProverError('proof_aborted', 'A callback threw a value that is not an Error.', {
              cause: error,
            }),
      );
    },
    release: () => {
      caller?.removeEventListener('abort', onAbort);
      closing.removeEventListener('abort', onClose);
    },
  };
}

export function createEngineProver<C extends string>(options: EngineProverOptions<C>): Prover<C> {
  const keeper = createEngineKeeper(options);
  const witnesses = createWitnessRunner(options.witness ?? defaultWitnessLimits);
  const assembler = createWorkerLink<AssembleProofRequest, AssembleProofResult>(
    moduleBeside(import.meta.url, 'assemble-proof-worker'),
    () => new Worker(new URL('./assemble-proof-worker.js', import.meta.url), { type: 'module' }),
  );
  const closing = new AbortController();
  const queue = createProofQueue<Job>();
  const calls = new Set<Promise<unknown>>();
  let running = 0;
  let isPreparing = false;
  const statistics = createProofStatistics(() => performance.now());
  let ended: Promise<void> | undefined;
  let busyMs = 0;
  let startedMs = 0;
  let description: AcceleratorDescription = {
    kind: options.accelerator === 'cpu' ? 'cpu' : 'none',
    detail: `${options.accelerator}: starts with the first proof`,
  };

  const describe = ({ kind, detail }: Engine): AcceleratorDescription => {
    const retired = kind === 'cpu' ? keeper.retired() : undefined;
    description = {
      kind,
      detail:
        retired === undefined ? detail : `${detail}; ${retired}: not used any more until a restart`,
    };
    return description;
  };
  const { accelerator } = options;
  const parts = {
    engineTurns: createTurns(),
    accelerator,
    keeper,
    assembler,
    onProved: describe,
  };

  /** Starts the next job, unless the witness of one is being computed or too many are under way. */
  const pump = (): void => {
    if (isPreparing || running >= mostRunning) {
      return;
    }
    const job = queue.take();
    if (job === undefined) {
      return;
    }
    if (running === 0) {
      startedMs = performance.now();
    }
    running += 1;
    isPreparing = true;
    let isInSums = false;
    const leavePreparing = () => {
      if (!isInSums) {
        isInSums = true;
        isPreparing = false;
        pump();
      }
    };
    void job.start(leavePreparing).finally(() => {
      running -= 1;
      if (running === 0) {
        busyMs += performance.now() - startedMs;
      }
      leavePreparing();
      pump();
    });
  };

  const locate = async (
    circuit: C | ProvingArtifact,
    report: ProofProgress,
    signal: AbortSignal,
  ): Promise<ProvingArtifact> => {
    if (typeof circuit !== 'string') {
      return circuit;
    }
    if (options.artifacts === undefined) {
      throw argumentError(
        'The prover has no artifact source. Pass the files of the circuit, or set the option artifacts.',
      );
    }
    report('artifacts', 0);
    const work = options.artifacts.ensureArtifacts(circuit, {
      signal,
      onProgress: (_stage, fraction) => {
        report('artifacts', fraction);
      },
    });
    const artifact = await untilAborted(work, signal);
    assertArtifact(artifact);
    return artifact;
  };

  /** Waits for its turn and works. An abort while waiting removes the job from the queue. */
  const takeTurn = <T>(
    { artifact, signal }: Pick<ProofTask, 'artifact' | 'signal'>,
    work: (onSums: () => void) => Promise<T>,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const leave = () => {
        queue.remove(job);
        reject(signal.reason instanceof Error ? signal.reason : closedError());
      };
      const job: Job = {
        start: async (onSums) => {
          signal.removeEventListener('abort', leave);
          try {
            signal.throwIfAborted();
            resolve(await work(onSums));
          } catch (error) {
            reject(
              error instanceof Error
                ? error
                : new ProverError('proof_failed', 'The proof failed.', {
                    retryable: true,
                    cause: error,
                  }),
            );
          }
        },
      };
      if (signal.aborted) {
        leave();
        return;
      }
      signal.addEventListener('abort', leave, { once: true });
      queue.push(describeFile(artifact.zkey, 'proving key').group, job);
      pump();
    });

  /** The files, and how to get the witness when it is this call's turn. */
  const prepare = async (
    request: ProveRequest<C>,
    report: ProofProgress,
    signal: AbortSignal,
  ): Promise<Pick<ProofTask, 'artifact' | 'makeWitness' | 'isWitnessGiven'>> => {
    if (request.witness !== undefined) {
      const { circuit: artifact, witness } = request;
      const makeWitness = () => witnesses.read(witness, signal);
      return { artifact, makeWitness, isWitnessGiven: true };
    }
    const { circuit, input } = request;
    const artifact = await locate(circuit, report, signal);
    const makeWitness = () => witnesses.compute(artifact.wasm, input, signal);
    return { artifact, makeWitness, isWitnessGiven: false };
  };

  /** Ends with the caller's signal and with the prover. */
  const joinWork = async <T>(
    request: Pick<ProveRequest<C>, 'signal' | 'onProgress'>,
    work: (signal: AbortSignal, onProgress: ProofProgress) => Promise<T>,
  ): Promise<T> => {
    const { signal, fail, release } = joinCaller(request.signal, closing.signal);
    /** The engine calls this in the middle of its work, so it must not throw. */
    const onProgress: ProofProgress = (stage, fraction) => {
      try {
        request.onProgress?.(stage, fraction);
      } catch (error) {
        fail(error);
      }
    };
    try {
      signal.throwIfAborted();
      onProgress('queued', 0);
      const result = await work(signal, onProgress);
      signal.throwIfAborted();
      return result;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      release();
    }
  };

  const prove = async (request: ProveRequest<C>): Promise<ProofResult> => {
    const timer = statistics.open(request.circuit);
    try {
      const result = await joinWork(request, async (signal, onProgress) => {
        const task = { ...(await prepare(request, onProgress, signal)), signal, onProgress };
        return await takeTurn(task, (onSums) => {
          timer.start();
          return makeProof(parts, { ...task, onSums });
        });
      });
      timer.finish();
      return result;
    } catch (error) {
      timer.fail(error);
      throw error;
    }
  };

  const load = (request: LoadRequest<C>): Promise<void> =>
    joinWork(request, async (signal, onProgress) => {
      const artifact = await locate(request.circuit, onProgress, signal);
      const task = { artifact, signal, onProgress };
      await Promise.all([
        witnesses.prepare(artifact.wasm, signal),
        takeTurn(task, () => loadKey(parts, task)),
      ]);
    });

  /** `close` waits for it. */
  const track = async <T>(call: Promise<T>): Promise<T> => {
    const settled = call.catch(() => undefined);
    calls.add(settled);
    try {
      return await call;
    } finally {
      calls.delete(settled);
    }
  };

  const end = async (): Promise<void> => {
    closing.abort();
    await Promise.all(calls);
    await Promise.all([witnesses.close(), assembler.close()]);
    await keeper.close();
  };

  return {
    get accelerator() {
      return description;
    },
    ready: async (ahead) => {
      if (closing.signal.aborted) {
        throw closedError();
      }
      if (ahead !== undefined) {
        assertProveRequest({ ...ahead, input: {} });
        await track(load(ahead));
      }
      const { engine } = await keeper.current();
      if (closing.signal.aborted) {
        throw closedError();
      }
      return describe(engine);
    },
    prove: async (request) => {
      if (closing.signal.aborted) {
        throw closedError();
      }
      assertProveRequest(request);
      return await track(prove(request));
    },
    verify: (verificationKey, publicSignals, proof) =>
      Promise.resolve().then(() => verifyProof(verificationKey, publicSignals, proof)),
    metrics: () => {
      const slots = keeper.slots();
      const failures = keeper.failures();
      const sum = (of: (slot: (typeof slots)[number]) => number) =>
        slots.reduce((total, slot) => total + of(slot), 0);
      const circuits = statistics.circuits();
      const endings = circuits.flatMap(({ outcomes }) => Object.entries(outcomes));
      const countEndings = (isMeant: (outcome: string) => boolean) =>
        endings.reduce((total, [outcome, count]) => total + (isMeant(outcome) ? count : 0), 0);
      return {
        accelerator: description,
        circuits,
        queued: queue.size(),
        running,
        proofs: countEndings((outcome) => outcome === 'proved'),
        failures: countEndings((outcome) => outcome !== 'proved'),
        secondsBusy: (busyMs + (running > 0 ? performance.now() - startedMs : 0)) / 1000,
        residentKeys: sum(({ keys }) => keys.count()),
        residentBytes: sum(({ keys }) => keys.bytes()),
        memoryBudgetBytes: options.memoryBudgetBytes,
        evictions: sum(({ keys }) => keys.evictions()),
        acceleratorLosses: failures.lost,
        acceleratorRefusals: failures.refused,
        wrongResults: failures.wrong,
        acceleratorRetired: keeper.retired() === undefined ? 0 : 1,
      };
    },
    close: () => {
      ended ??= end();
      return ended;
    },
  };
}
