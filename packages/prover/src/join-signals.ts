/**
 * Several abort signals as one. AbortSignal.any does the same and leaves something behind in each of its sources; ours live as long as
 * the prover, and serve a call each.
 *
 * @module
 */

/** `release` once the work is over: it takes the joined signal off its sources. */
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
