/**
 * Whether the gate votes, and why not.
 *
 * @module
 */
import type { Ledger, LedgerStatus } from '@pool/policy';
import type { Doctor, DoctorReport } from './doctor.ts';

export type GateHealth = {
  readonly ok: boolean;
  /** Sentences for the operator. Empty: it votes. */
  readonly problems: readonly string[];
  readonly doctor: DoctorReport | undefined;
  readonly ledger: LedgerStatus;
};

/** @param lastLookMs - when the custodian was last reached; undefined: the gate did not look yet */
export function readHealth(deps: {
  readonly ledger: Ledger;
  readonly doctor: Doctor;
  readonly nowMs: number;
  readonly lastLookMs: number | undefined;
  readonly maxLookAgeMs: number;
  /** What the gate's own nodes do not answer. */
  readonly nodeProblems: readonly string[];
}): GateHealth {
  const ledger = deps.ledger.status();
  const doctor = deps.doctor.latest();
  const problems: string[] = [];
  if (doctor === undefined) {
    problems.push('the doctor has not examined the custodian yet');
  } else {
    const wrong = doctor.checks.filter(({ ok }) => !ok);
    problems.push(...wrong.map(({ name, detail }) => `${name}: ${detail}`));
  }
  if (ledger.isRestored) {
    problems.push(
      `the ledger counts as restored (${ledger.restoredBecause ?? 'unknown'}): run "pool-approve ledger rebaseline --by NAME"`,
    );
  }
  if (deps.lastLookMs !== undefined && deps.nowMs - deps.lastLookMs > deps.maxLookAgeMs) {
    problems.push('the custodian has not answered for a while: read the log');
  }
  problems.push(...deps.nodeProblems);
  return { ok: problems.length === 0, problems, doctor, ledger };
}
