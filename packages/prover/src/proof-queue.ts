/**
 * Who proves next: proofs of one circuit follow each other, because changing the key costs more than waiting, but only so many while
 * another circuit waits; then it is the turn of whoever waits longest. Pure bookkeeping.
 *
 * @module
 */

export type ProofQueue<Job> = {
  readonly push: (circuit: string, job: Job) => void;
  /** Takes the next job out; undefined if none waits. */
  readonly take: () => Job | undefined;
  /** Takes a job out of turn; does nothing if it does not wait. */
  readonly remove: (job: Job) => void;
  /** Jobs that wait. */
  readonly size: () => number;
};

/** Proofs of one circuit in a row while another circuit waits. */
const longestRow = 8;

export function createProofQueue<Job>(maximumRow = longestRow): ProofQueue<Job> {
  /** In order of arrival. */
  const waiting: { readonly circuit: string; readonly job: Job }[] = [];
  let last: string | undefined;
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
