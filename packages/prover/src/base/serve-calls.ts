/**
 * The thread's side of a {@link WorkerLink}. It imports nothing of other packages: the threads of the prover start without flags, and
 * fast.
 *
 * @module
 */
import type { Transferable } from 'node:worker_threads';
import { ProverError, type ProverErrorCode } from './errors.ts';

export type Answer =
  | { readonly type: 'result'; readonly result: unknown }
  | {
      readonly type: 'error';
      readonly code: ProverErrorCode;
      readonly message: string;
      readonly retryable: boolean;
      readonly reason: string | undefined;
    };

type Post = (answer: Answer, transfer: readonly Transferable[]) => void;

/** A worker thread of Node has a port; the scope of a browser's worker is one. */
function listen(onRequest: (request: unknown, post: Post) => void): void {
  const { process: node } = globalThis as { readonly process?: Partial<NodeJS.Process> };
  const threads = node?.getBuiltinModule?.('node:worker_threads');
  if (threads !== undefined) {
    const { parentPort } = threads;
    parentPort?.on('message', (request) => {
      onRequest(request, (answer, transfer) => {
        parentPort.postMessage(answer, [...transfer]);
      });
    });
    return;
  }
  const scope = globalThis as unknown as {
    onmessage: (event: { readonly data: unknown }) => void;
    readonly postMessage: Post;
  };
  scope.onmessage = ({ data }) => {
    onRequest(data, (answer, transfer) => {
      scope.postMessage(answer, transfer);
    });
  };
}

/** In the thread: answers each request with the result of `work` and transfers the buffers that it names. */
export function serveCalls<Request, Result>(
  work: (request: Request) => {
    readonly result: Result;
    readonly transfer?: readonly Transferable[];
  },
): void {
  listen((request, post) => {
    let answer: Answer;
    let transfer: readonly Transferable[] = [];
    try {
      const done = work(request as Request);
      answer = { type: 'result', result: done.result };
      transfer = done.transfer ?? [];
    } catch (error) {
      const known = error instanceof ProverError ? error : undefined;
      answer = {
        type: 'error',
        code: known?.code ?? 'proof_failed',
        message: known?.message ?? 'A thread of the prover failed.',
        retryable: known?.retryable ?? true,
        reason: known === undefined ? describe(error) : describe(known.cause),
      };
    }
    post(answer, transfer);
  });
}

function describe(error: unknown): string | undefined {
  return error instanceof Error ? error.message : undefined;
}
