/**
 * A service of the sandbox that can be ended and started again at its place.
 *
 * @module
 */
import { isAnswering, type ManagedProcess, waitUntilReady } from '@pool/testkit';

export type Service = {
  readonly url: string;
  /** The process that was started last. */
  readonly process: ManagedProcess;
  /** Resolves when it answers. */
  ready(): Promise<void>;
  /** Starts it again after it was stopped or killed, and waits until it answers. */
  restart(): Promise<void>;
};

export function startService(url: string, start: () => ManagedProcess): Service {
  let process = start();
  const ready = async (): Promise<void> => {
    await waitUntilReady(process, () => isAnswering(url));
  };
  return {
    url,
    get process() {
      return process;
    },
    ready,
    async restart() {
      process = start();
      await ready();
    },
  };
}
