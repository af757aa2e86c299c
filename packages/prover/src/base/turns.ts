/**
 * Turns at something that one caller at a time may use, in the order of asking.
 *
 * @module
 */
import { closedError } from './errors.ts';

export type Turn = {
  /** Resolves when all earlier turns have ended. Never rejects. */
  readonly begins: Promise<void>;
  /** Lets the next turn begin, also if this one has not begun. Later calls do nothing. */
  readonly end: () => void;
};

export type Turns = { readonly take: () => Turn };

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  return {
    take: () => {
      const begins = last;
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      last = begins.then(() => ended);
      return { begins, end };
    },
  };
}

/**
 * Resolves with the result of work that may ignore the signal.
 * @throws the work's error; the signal's reason, as soon as it is aborted
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let leave = () => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => {
      reject(signal.reason instanceof Error ? signal.reason : closedError());
    };
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
