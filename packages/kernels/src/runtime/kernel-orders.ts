/**
 * Makes the calls of orders, in a kernel thread.
 *
 * @module
 */
import { instantiateKernels, type Kernel } from './instantiate-kernels.ts';
import { createBoxKernels } from './scan-kernel.ts';
import { claim, type ThreadOrder, type ThreadWork } from './thread-messages.ts';

/** Executes orders: it stops after every call, and returns the failure at the end. */
export type OrderRunner = (order: ThreadOrder) => Generator<undefined, string | undefined>;

export function createOrderRunner({ module, memory, claims }: ThreadWork): OrderRunner {
  const kernels: ReadonlyMap<string, Kernel> = new Map([
    ...instantiateKernels(module, memory),
    ...createBoxKernels(memory),
  ]);
  return function* run({ cell, calls }) {
    const before = Atomics.compareExchange(claims, cell, claim.waiting, claim.taken);
    if (before !== claim.waiting) return undefined;
    try {
      for (const [name, ...numbers] of calls) {
        if (Atomics.load(claims, cell) === claim.cutShort) break;
        const kernel = kernels.get(name);
        if (kernel === undefined) return `there is no kernel ${name}`;
        kernel(...numbers);
        yield;
      }
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : 'unknown';
    }
  };
}
