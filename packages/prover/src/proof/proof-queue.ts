/**
 * The order of proofs. Proofs of one circuit run one after another, because changing the key costs more than waiting. While
 * another circuit waits, their number in a row is limited; then the job that waits longest is next. This module only keeps the
 * order.
 *
 * @module
 */

export type ProofQueue<Job> = {
  readonly push: (circuit: unknown, job: Job) => void;
  /** Removes and returns the next job. Undefined if none waits. */
  readonly take: () => Job | undefined;
  /** Removes a waiting job. Does nothing if it does not wait. */
  readonly remove: (job: Job) => void;
  /** Number of waiting jobs. */
  readonly size: () => number;
};

/** Maximum number of proofs of one circuit in a row while another circuit waits. */
const longestRow = 8;

export function createProofQueue<Job>(maximumRow = longestRow): ProofQueue<Job> {
  /** In order of arrival. */
  const waiting: { readonly circuit: unknown; readonly job: Job }[] = [];
  let last: unknown;
  let row = 0;
  return {
    push: (circuit, job) => {
      waiting.push({ circuit, job });
    },
    take: () => {
      const same = waiting.findIndex(({ circuit }) => circuit === last);
      const other = waiting.findIndex(({ circuit }) => circuit !== last);
      const index = same >= 0 && (other < 0 || row < maximumRow) ? same : other;
      const [taken] = index < 0 ? [] : waiting.splice(index, 1);
      if (taken === undefined) {
        return undefined;
      }
      row = taken.circuit === last ? row + 1 : 1;
      last = taken.circuit;
      return taken.job;
    },
    remove: (job) => {
      const index = waiting.findIndex((entry) => entry.job === job);
      if (index >= 0) {
        waiting.splice(index, 1);
      }
    },
    size: () => waiting.length,
  };
}
