// The prover in a page. Tests and the benchmark call `provePage` through the browser's debugger.

import { createProver, ProverError, type ProverOptions, type VerificationKey } from '@pool/prover';
import * as dropIn from '@pool/prover/snarkjs';

export type PageTask = {
  readonly options: Pick<
    ProverOptions,
    'threads' | 'accelerator' | 'allowSoftwareAdapter' | 'keyCacheDir'
  >;
  /** URLs. */
  readonly wasm: string;
  readonly zkey: string;
  /** How the files are given to the prover. */
  readonly form: 'url' | 'bytes' | 'blob' | 'stream';
  readonly verificationKey?: VerificationKey;
  readonly input: Readonly<Record<string, unknown>>;
  /** Number of proofs, one after the other, with one prover. */
  readonly proofs: number;
  /** Starts the engine first. */
  readonly ready?: boolean;
  /** Uses the prover of the page, and does not close it. Its options are those of the first task. */
  readonly keep?: boolean;
  /** Aborts the first proof when this stage has begun. */
  readonly abortAt?: string;
};

export type PageResult = {
  readonly detail: string;
  readonly proofs: readonly Awaited<ReturnType<ReturnType<typeof createProver>['prove']>>[];
  /** Of each proof. */
  readonly ms: readonly number[];
  readonly stages: readonly string[];
  /** Code of the error of the aborted proof. */
  readonly aborted: string | undefined;
  /** How often a timer of the page had its turn meanwhile. */
  readonly turns: number;
  readonly residentBytes: number;
};

export type PageGlobal = {
  readonly provePage: (task: PageTask) => Promise<PageResult>;
  readonly dropIn: typeof dropIn;
  /** The prover that tasks keep. */
  prover?: ReturnType<typeof createProver>;
};

async function open(url: string, form: PageTask['form']) {
  if (form === 'url') return url;
  const response = await fetch(url);
  if (form === 'stream') return response.body as ReadableStream<Uint8Array>;
  return form === 'blob' ? response.blob() : new Uint8Array(await response.arrayBuffer());
}

function countTurns() {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 5);
  return () => {
    clearInterval(timer);
    return turns;
  };
}

const page: PageGlobal = Object.assign(globalThis, { provePage: run, dropIn });

async function run(task: PageTask): Promise<PageResult> {
  const prover = (task.keep === true ? page.prover : undefined) ?? createProver(task.options);
  if (task.keep === true) page.prover = prover;
  const stages = new Set<string>();
  const prove = async (signal?: AbortSignal, onStage?: (stage: string) => void) => {
    const [wasm, zkey] = [await open(task.wasm, task.form), await open(task.zkey, task.form)];
    const { verificationKey, input } = task;
    return prover.prove({
      circuit: { wasm, zkey, ...(verificationKey === undefined ? {} : { verificationKey }) },
      input,
      signal,
      onProgress: (stage) => {
        stages.add(stage);
        onStage?.(stage);
      },
    });
  };
  try {
    if (task.ready === true) await prover.ready();
    let aborted: string | undefined;
    if (task.abortAt !== undefined) {
      const controller = new AbortController();
      aborted = await prove(controller.signal, (stage) => {
        if (stage === task.abortAt) controller.abort();
      }).then(
        () => 'proved',
        (error: unknown) => (error instanceof ProverError ? error.code : String(error)),
      );
    }
    const ms: number[] = [];
    const proofs = [];
    const stop = countTurns();
    for (let i = 0; i < task.proofs; i += 1) {
      const started = performance.now();
      proofs.push(await prove());
      ms.push(performance.now() - started);
    }
    const { detail } = prover.accelerator;
    const { residentBytes } = prover.metrics();
    return {
      detail,
      proofs,
      ms,
      stages: [...stages],
      aborted,
      turns: stop(),
      residentBytes,
    };
  } catch (error) {
    // The debugger passes on the message only.
    throw error instanceof ProverError ? new Error(`${error.code}: ${error.message}`) : error;
  } finally {
    if (task.keep !== true) await prover.close();
  }
}
