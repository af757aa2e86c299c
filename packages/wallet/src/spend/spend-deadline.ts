/**
 * The deadline of a spend (protocol §8, "Late landing"). It is public on chain.
 *
 * @module
 */

/** 15 minutes. A signer that requires a vote adds its time limit. */
export const defaultSpendDeadlineSeconds = 900;

const roundingSeconds = 900;

/**
 * How long a replaced eligibility root must stay accepted for a transfer that keeps all its times, in seconds: 15 minutes until the root's
 * block is final, 5 for the proof, and 30 until the latest deadline (docs/decisions/0005).
 */
export const neededGraceSeconds = 900 + 300 + defaultSpendDeadlineSeconds + roundingSeconds;

/** Below this time, a spend is not sent any more: it would hardly land, and its notes would be locked until it is dead. */
const minSeconds = 60;

/**
 * The deadline in Unix seconds, rounded up to a quarter of an hour, so that it does not reveal when the manifest was made. Shorter
 * windows (tests) are not rounded.
 *
 * @param nowSeconds - the later of our clock and the chain's newest block
 */
export function computeSpendDeadline(nowSeconds: number, windowSeconds: number): number {
  const deadline = nowSeconds + windowSeconds;
  return windowSeconds < roundingSeconds
    ? deadline
    : Math.ceil(deadline / roundingSeconds) * roundingSeconds;
}

/** True if too little time is left to send a spend for the first time. */
export function isTooLateToSend(
  nowSeconds: number,
  deadline: number,
  windowSeconds: number,
): boolean {
  return nowSeconds >= deadline - Math.min(minSeconds, Math.floor(windowSeconds / 10));
}
