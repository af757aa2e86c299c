/**
 * What could tell a stranger which payslip a withdrawal comes from. On chain a withdrawal shows its amount, its address and its time;
 * a payment to many shows its time. Whoever knows a salary, or the day of a payroll, can compare.
 *
 * @module
 */

/** Money that came in. */
export type Payslip = {
  /** Base units. */
  readonly amount: bigint;
  /** Unix time of the block. */
  readonly timeMs: number;
};

export type WithdrawalLink =
  | { readonly kind: 'equal-amount'; readonly payslip: Payslip }
  /** The sum of this number of newest payslips: what somebody withdraws who takes everything out. */
  | { readonly kind: 'equal-sum'; readonly count: number }
  | {
      readonly kind: 'same-day';
      readonly payslip: Payslip;
      /** From then on, a day has passed since every payslip. */
      readonly untilMs: number;
    };

const dayMs = 86_400_000;
/** More payslips than that are not added up. */
const maxSummed = 12;

/** @param payslips - in any order */
export function findWithdrawalLinks(
  amount: bigint,
  nowMs: number,
  payslips: readonly Payslip[],
): readonly WithdrawalLink[] {
  const newest = sortNewest(payslips);
  const equal = newest.find((payslip) => payslip.amount === amount);
  const count = findSum(amount, newest);
  const [last] = newest;
  return [
    ...(equal === undefined ? [] : [{ kind: 'equal-amount', payslip: equal } as const]),
    ...(count === undefined ? [] : [{ kind: 'equal-sum', count } as const]),
    ...(last !== undefined && isSameDay(last.timeMs, nowMs)
      ? [{ kind: 'same-day', payslip: last, untilMs: last.timeMs + dayMs } as const]
      : []),
  ];
}

/**
 * The largest round amount up to the wanted one that equals no payslip and no sum of newest payslips: 1, 2 or 5 times a power of ten
 * base units. Many people withdraw such amounts. Undefined: there is none.
 */
export function suggestAmount(amount: bigint, payslips: readonly Payslip[]): bigint | undefined {
  const newest = sortNewest(payslips);
  const isFree = (candidate: bigint) =>
    newest.every((payslip) => payslip.amount !== candidate) &&
    findSum(candidate, newest) === undefined;
  for (let power = 10n ** BigInt(amount.toString().length - 1); power > 0n; power /= 10n) {
    for (const digit of [5n, 2n, 1n]) {
      const candidate = digit * power;
      if (candidate < amount && isFree(candidate)) return candidate;
    }
  }
  return undefined;
}

/** Number of newest payslips, two or more, whose sum is the amount. */
function findSum(amount: bigint, newest: readonly Payslip[]): number | undefined {
  let sum = 0n;
  for (const [index, payslip] of newest.slice(0, maxSummed).entries()) {
    sum += payslip.amount;
    if (sum === amount && index > 0) return index + 1;
  }
  return undefined;
}

/** The same day in UTC, or less than 24 hours later. */
function isSameDay(paidMs: number, nowMs: number): boolean {
  return Math.floor(paidMs / dayMs) === Math.floor(nowMs / dayMs) || nowMs - paidMs < dayMs;
}

function sortNewest(payslips: readonly Payslip[]): readonly Payslip[] {
  return payslips.toSorted((a, b) => b.timeMs - a.timeMs);
}
