/**
 * A kernel thread: it makes the requested calls on the shared memory and reports when they end.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads';
import { instantiateKernels } from './instantiate-kernels.ts';
import { createBoxKernels } from './scan-kernel.ts';
import { claim, type ThreadAnswer, type ThreadOrder, type ThreadWork } from './thread-messages.ts';

if (parentPort !== null) {
  const port = parentPort;
  const { module, memory, claims } = workerData as ThreadWork;
  const cells = new Int32Array(claims);
  const kernels = new Map([...instantiateKernels(module, memory), ...createBoxKernels(memory)]);
  const answer = (message: ThreadAnswer) => {
    port.postMessage(message);
  };

  const work = ({ id, cell, calls }: ThreadOrder): ThreadAnswer => {
    const before = Atomics.compareExchange(cells, cell, claim.waiting, claim.taken);
    if (before !== claim.waiting) return { type: 'done', id };
    try {
      for (const [name, ...numbers] of calls) {
        if (Atomics.load(cells, cell) === claim.cutShort) break;
        const kernel = kernels.get(name);
        if (kernel === undefined)
          return { type: 'done', id, failure: `there is no kernel ${name}` };
        kernel(...numbers);
      }
      return { type: 'done', id };
    } catch (error) {
      return { type: 'done', id, failure: error instanceof Error ? error.message : 'unknown' };
    }
  };

  port.on('message', (order: ThreadOrder) => {
    answer(work(order));
  });
  answer({ type: 'ready' });
}
