/**
 * A worker that has kernels with a memory of its own. The first message is their start, every further one is for them.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import { serveThread } from '../runtime/thread-port.ts';
import { createHost } from './host.ts';
import type { HostMessage, HostStart } from './messages.ts';

let host: ReturnType<typeof createHost> | undefined;

serveThread((message, post) => {
  if (host === undefined) {
    host = createHost(message as HostStart, post);
    host.then(
      () => {
        post({ type: 'ready' });
      },
      (error: unknown) => {
        post({
          type: 'unable',
          message: error instanceof KernelsError ? error.message : 'unknown',
        });
      },
    );
    return;
  }
  host.then(
    ({ receive }) => {
      receive(message as HostMessage);
    },
    () => {
      post({ type: 'closed' });
    },
  );
});
