/**
 * Waiting that a test can shorten: by a scale, or at once.
 *
 * @module
 */
export type Pauses = {
  /** Resolves after the scaled time, or when {@link Pauses.skip} is called. Never resolves after `stop`. */
  wait(ms: number): Promise<void>;
  setScale(scale: number): void;
  /** Ends every pause now. @returns how many there were */
  skip(): number;
  pending(): number;
  stop(): void;
};

export function createPauses(initialScale: number): Pauses {
  let scale = initialScale;
  let stopped = false;
  const waiting = new Map<() => void, NodeJS.Timeout>();

  function skip(): number {
    const ends = [...waiting.keys()];
    for (const end of ends) {
      end();
    }
    return ends.length;
  }

  return {
    wait: async (ms) =>
      await new Promise((resolve) => {
        if (stopped) {
          return;
        }
        const end = (): void => {
          clearTimeout(waiting.get(end));
          waiting.delete(end);
          resolve();
        };
        waiting.set(end, setTimeout(end, ms / scale));
      }),
    setScale(next) {
      scale = next;
    },
    skip,
    pending: () => waiting.size,
    stop() {
      stopped = true;
      for (const timer of waiting.values()) {
        clearTimeout(timer);
      }
      waiting.clear();
    },
  };
}
