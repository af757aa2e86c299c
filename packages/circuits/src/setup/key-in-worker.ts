/**
 * Runs the dev setup in a worker thread.
 *
 * @module
 */
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '@pool/kernels';
import type { KeyJob, KeyMessage, KeyResult } from './key-worker.ts';

export type KeyOptions = {
  readonly signal?: AbortSignal | undefined;
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

/**
 * Computes a key and writes its `.zkey` (the file must not exist yet).
 * @throws the error that stopped the worker; the signal's reason when aborted
 */
export function computeKeyInWorker(job: KeyJob, options: KeyOptions = {}): Promise<KeyResult> {
  return new Promise((resolve, reject) => {
    const { signal, onProgress } = options;
    const stopped = () => (signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal?.aborted) {
      reject(stopped());
      return;
    }
    const worker = new Worker(moduleBeside(import.meta.url, 'key-worker'), { workerData: job });
    const abort = () => {
      reject(stopped());
      void worker.terminate();
    };
    signal?.addEventListener('abort', abort, { once: true });
    worker.on('message', (message: KeyMessage) => {
      if (message.type === 'progress') {
        onProgress?.(message.fraction);
      } else {
        resolve(message.result);
      }
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      signal?.removeEventListener('abort', abort);
      reject(new Error(`the setup worker ended early, with code ${code}`));
    });
  });
}
