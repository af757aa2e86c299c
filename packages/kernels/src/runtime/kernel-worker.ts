/**
 * A kernel thread: it makes the requested calls on the shared memory and reports when they end. The first message is its work, every
 * further one an order.
 *
 * @module
 */
import { createOrderRunner, type OrderRunner } from './kernel-orders.ts';
import type { ThreadAnswer, ThreadOrder, ThreadWork } from './thread-messages.ts';
import { serveThread } from './thread-port.ts';

let run: OrderRunner | undefined;

function answer(message: unknown): ThreadAnswer {
  if (run === undefined) {
    run = createOrderRunner(message as ThreadWork);
    return { type: 'ready' };
  }
  const order = message as ThreadOrder;
  const steps = run(order);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return {
    type: 'done',
    id: order.id,
    ...(step.value === undefined ? {} : { failure: step.value }),
  };
}

serveThread((message, post) => {
  post(answer(message));
});
