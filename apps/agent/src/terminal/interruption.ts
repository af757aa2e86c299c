/**
 * Signals to a command that only watches: the first ends the watching, a second one the command.
 *
 * @module
 */

/** @param work - ends early once its signal is aborted */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(interruption.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
