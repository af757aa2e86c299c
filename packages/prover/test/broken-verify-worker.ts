/**
 * Replaces the verifier's thread: a public signal makes it die or hang. For tests only.
 */

import { serveCalls } from '../src/base/serve-calls.ts';
import type { VerifyRequest } from '../src/proof/verify-worker.ts';

serveCalls(({ publicSignals: [order] }: VerifyRequest) => {
  if (order === 'die') {
    process.exit(3);
  } else if (order === 'hang') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  return { result: order === 'true' };
});
