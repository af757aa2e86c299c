/**
 * Joins several abort signals into one. AbortSignal.any leaves memory behind in each of its sources. Our sources live as long as
 * the prover, and each call joins them.
 *
 * @module
 */

/** Call `release` when the work is done: it removes the listeners from the sources. */
export function joinSignals(...sources: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  const joined = new AbortController();
  const listeners = sources
    .filter((source) => source !== undefined)
    .map((source) => {
      const abort = () => {
        joined.abort(source.reason);
      };
      if (source.aborted) {
        abort();
      }
      source.addEventListener('abort', abort, { once: true });
      return { source, abort };
    });
  return {
    signal: joined.signal,
    release: () => {
      for (const { source, abort } of listeners) {
        source.removeEventListener('abort', abort);
      }
    },
  };
}
