/**
 * Counts the failures of a graphics device since the start, and decides when it is no longer used. Without this, a device that
 * always fails would be opened, and its keys loaded again, for every proof.
 *
 * @module
 */
import type { IdentifiedFile } from '../base/file-input.ts';

/** Something that an operator should know. The proof may still have succeeded. */
export type ProverIncident = {
  readonly code:
    | 'accelerator_lost'
    | 'accelerator_refused'
    | 'accelerator_wrong_result'
    /** A key needs more than the device has. The processor uses it instead. Reported once for each key. */
    | 'accelerator_too_small'
    /** The device is not used again until the process restarts. */
    | 'accelerator_retired';
  readonly message: string;
};

/** `lost`: the device is gone. `refused`: the device reported an error. `wrong`: its proof does not verify. */
export type AcceleratorFailure = 'lost' | 'refused' | 'wrong';

export type AcceleratorRecord = {
  /** @param detail - name of the device, for people */
  readonly noteFailure: (failure: AcceleratorFailure, detail: string, words?: string) => void;
  /** The device made a proof that verifies. */
  readonly noteProof: () => void;
  /** A device that was open before cannot be opened again. */
  readonly noteAbsence: (reason: string) => void;
  /** A key needs more memory, or larger bindings, than the device has. */
  readonly noteTooSmall: (zkey: IdentifiedFile, words: string) => void;
  readonly isTooSmall: (zkey: IdentifiedFile) => boolean;
  /** The reason why the device is no longer used. Undefined while it is used. */
  readonly retired: () => string | undefined;
  readonly counts: () => Readonly<Record<AcceleratorFailure, number>>;
};

/**
 * Failures in a row, without a successful proof in between. Three, so that a driver may be reset during a proof and during its
 * repetition.
 */
const maximumFailuresInARow = 3;
/** In total. A device that computes wrong results from time to time is broken. */
const maximumWrongResults = 2;
/** How often a key is tried on a device that is too small for it. Another program may have used the memory. */
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
      `${reason}. It is no longer used. The processor proves instead, unless accelerator is webgpu. Check the driver, then restart.`,
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
    noteTooSmall: ({ name, identity }, words) => {
      const before = tries.get(identity) ?? 0;
      tries.set(identity, before + 1);
      if (before === 0) {
        tell(
          'accelerator_too_small',
          `The graphics device is too small for the proving key ${name}. The processor uses this key instead. ${words}`,
        );
      }
    },
    isTooSmall: ({ identity }) => (tries.get(identity) ?? 0) >= maximumTriesOfAKey,
    retired: () => retired,
    counts: () => counts,
  };
}
