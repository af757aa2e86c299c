/**
 * The witnesses of time: the host's clock, the newest blocks, and the ledger's newest approval. A clock that is moved would give a new
 * daily limit for each day that it shows, so nothing is decided while they disagree.
 *
 * @module
 */
import type { ClockWitness } from './fact-questions.ts';
import { type DecideInput, type Finding, pass, wait } from './findings.ts';

/** How far the clock may lie behind the ledger: another process of the same host wrote it, or a custodian dated it. */
const ledgerToleranceMs = 300_000;

/** The clock of the host against everything else that knows the time. */
export function checkClock({
  ledger,
  facts,
  nowMs,
}: Pick<DecideInput, 'ledger' | 'facts' | 'nowMs'>): Finding {
  const rule = 'clock';
  if (nowMs < ledger.newestAtMs - ledgerToleranceMs) {
    return wait(rule, 'clock-behind-ledger', `It is ${new Date(nowMs).toISOString()} here.`);
  }
  if (facts.clock === undefined) {
    return wait(rule, 'facts-unavailable');
  }
  const other = facts.clock.find((witness) => differs(witness, nowMs));
  return other === undefined
    ? pass(rule)
    : wait(rule, 'clock-differs', `By ${computeDifference(other, nowMs)} seconds.`);
}

export function differs(witness: ClockWitness, nowMs: number): boolean {
  return Math.abs(computeDifference(witness, nowMs)) > witness.maxDifferenceSeconds;
}

/** Seconds by which the clock is ahead. */
export function computeDifference({ blockSeconds }: ClockWitness, nowMs: number): number {
  return Math.floor(nowMs / 1000) - blockSeconds;
}
