/**
 * The progress of a proof on a terminal. In a pipe it prints nothing.
 *
 * @module
 */
import type { ProofProgress } from '../base/prover.ts';

/** Milliseconds between two updates of the line. */
const updateMs = 100;
const clearLine = '\r\u001b[K';

export function createProgress(): { readonly report: ProofProgress; readonly end: () => void } {
  const { stderr } = process;
  if (!stderr.isTTY) {
    return { report: () => {}, end: () => {} };
  }
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    report: (stage, fraction) => {
      if (performance.now() - lastMs >= updateMs) {
        lastMs = performance.now();
        stderr.write(`${clearLine}${stage} ${Math.floor(100 * fraction)} %`);
      }
    },
    end: () => {
      stderr.write(clearLine);
    },
  };
}
