/** A thread that dies on request: immediately, or while it is idle. For tests only. */
import { serveCalls } from '../src/base/serve-calls.ts';

export type LinkRequest = 'answer' | 'exit' | 'exit when idle' | 'throw when idle' | 'wait';

serveCalls((request: LinkRequest) => {
  if (request === 'exit') {
    process.exit(3);
  } else if (request === 'exit when idle') {
    setTimeout(() => process.exit(3), 1);
  } else if (request === 'throw when idle') {
    setTimeout(() => {
      throw new Error('thrown while idle');
    }, 1);
  } else if (request === 'wait') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  return { result: request };
});
