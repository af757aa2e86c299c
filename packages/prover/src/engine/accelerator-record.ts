/**
 * What a graphics device did wrong since the start, and when it is not asked any more: a device that always fails must not be opened,
 * with its keys loaded again, in every proof.
 *
 * @module
 */
import { basename } from 'node:path';

/** Something an operator should know, although the proof may have been made all the same. */
export type ProverIncident = {
  readonly code:
    | 'accelerator_lost'
    | 'accelerator_refused'
    | 'accelerator_wrong_result'
    /** A key needs more than the device has; the processor proves under it. Told once for each key. */
    | 'accelerator_too_small'
    /** The device is not used any more until the process restarts. */
    | 'accelerator_retired';
  readonly message: string;
};

/** `lost`: the device is gone. `refused`: it is there and reported an error. `wrong`: its proof does not verify. */
export type AcceleratorFailure = 'lost' | 'refused' | 'wrong';

export type AcceleratorRecord = {
  /** @param detail - the device, for people */
  readonly noteFailure: (failure: AcceleratorFailure, detail: string, words?: string) => void;
  /** It made a proof that verifies. */
  readonly noteProof: () => void;
  /** A device that was open before does not open again. */
  readonly noteAbsence: (reason: string) => void;
  /** A key needs more memory, or larger bindings, than the device has. */
  readonly noteTooSmall: (zkeyPath: string, words: string) => void;
  readonly isTooSmall: (zkeyPath: string) => boolean;
  /** Why the device is not used any more; undefined while it is. */
  readonly retired: () => string | undefined;
  readonly counts: () => Readonly<Record<AcceleratorFailure, number>>;
};

/** Failures in a row, without a finished proof in between. Three, so that a driver may be reset in the middle of a proof and of its repetition. */
const maximumFailuresInARow = 3;
/** In all: a device that computes wrongly now and then is broken. */
const maximumWrongResults = 2;
/** How often a key is tried on a device that is too small for it: another program may have held the memory. */
const maximumTriesOfAKey = 3;

const incidents = {
  lost: ['accelerator_lost', 'went away in the middle of a proof'],
  refused: ['accelerator_refused', 'reported an error'],
  wrong: ['accelerator_wrong_result', 'gave a proof that does not verify'],
} as const;

export function createAcceleratorRecord(
  onIncident: ((incident: ProverIncident) => void) | undefined,
): AcceleratorRecord {
  const counts: Record<AcceleratorFailure, number> = { lost: 0, refused: 0, wrong: 0 };
  const tries = new Map<string, number>();
  let inARow = 0;
  let retired: string | undefined;

  const tell = (code: ProverIncident['code'], message: string): void => {
    onIncident?.({ code, message });
  };
  const retire = (reason: string): void => {
    if (retired !== undefined) {
      return;
    }
    retired = reason;
    tell(
      'accelerator_retired',
      `${reason}. It is not used any more, and the processor proves unless the device is demanded. Check its driver, then restart.`,
    );
  };

  return {
    noteFailure: (failure, detail, words) => {
      counts[failure] += 1;
      inARow += 1;
      const [code, what] = incidents[failure];
      tell(code, `${detail} ${what}${words === undefined ? '' : `: ${words}`}.`);
      if (counts.wrong >= maximumWrongResults) {
        retire(`${detail} gave ${counts.wrong} proofs that do not verify`);
      } else if (inARow >= maximumFailuresInARow) {
        retire(`${detail} failed ${inARow} times in a row`);
      }
    },
    noteProof: () => {
      inARow = 0;
    },
    noteAbsence: (reason) => {
      retire(`The graphics device did not open again (${reason})`);
    },
    noteTooSmall: (zkeyPath, words) => {
      const before = tries.get(zkeyPath) ?? 0;
      tries.set(zkeyPath, before + 1);
      if (before === 0) {
        tell(
          'accelerator_too_small',
          `The graphics device is too small for ${basename(zkeyPath)}; the processor proves under it. ${words}`,
        );
      }
    },
    isTooSmall: (zkeyPath) => (tries.get(zkeyPath) ?? 0) >= maximumTriesOfAKey,
    retired: () => retired,
    counts: () => counts,
  };
}
