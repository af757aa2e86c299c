/**
 * The deadline of a batch authorisation (protocol §8, "Late landing").
 *
 * @module
 */

/** 60 minutes. A signer that requires a vote adds its time limit. */
export const defaultBatchDeadlineSeconds = 3600;

const roundingSeconds = 900;

/**
 * The deadline in Unix seconds. Rounded up to a quarter of an hour, so that it does not reveal when the manifest was made.
 * Shorter windows (tests) are not rounded.
 *
 * @param nowSeconds - the later of our clock and the chain's newest block
 */
export function computeBatchDeadline(nowSeconds: number, windowSeconds: number): number {
  const deadline = nowSeconds + windowSeconds;
  return windowSeconds < roundingSeconds
    ? deadline
    : Math.ceil(deadline / roundingSeconds) * roundingSeconds;
}

/**
 * True when too little time is left for an authorisation to leave. One that cannot land in time would only delay the job
 * until it is dead.
 */
export function isTooLateToRelease(
  nowSeconds: number,
  deadline: number,
  windowSeconds: number,
): boolean {
  return nowSeconds >= deadline - Math.min(60, Math.floor(windowSeconds / 10));
}
