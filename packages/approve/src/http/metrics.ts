/**
 * The gate's metrics. No amount, address or key is in them.
 *
 * @module
 */
import { createBuildMeasure, type Measure } from '@pool/http-server';
import manifest from '../../package.json' with { type: 'json' };
import type { DoctorCheck, GateHealth } from '../examine/doctor.ts';

export type Counts = {
  /** Answers to the custodian by value since the process began: approve, deny, retry. */
  readonly answers: ReadonlyMap<string, number>;
  readonly pollFailures: number;
  readonly policyReloads: number;
};

export function listMeasures(health: GateHealth, counts: Counts): readonly Measure[] {
  const { ledger, doctor } = health;
  const one = (name: string, help: string, value: number | boolean, type?: 'counter'): Measure => ({
    name: `pool_approve_${name}`,
    help,
    ...(type && { type }),
    read: () => [{ value: Number(value) }],
  });
  return [
    createBuildMeasure('approve', manifest.version),
    one('healthy', '1: the gate votes.', health.ok),
    one('doctor_ok', '1: the gate cannot be gone around.', doctor?.ok === true),
    {
      name: 'pool_approve_doctor_check_ok',
      help: 'One check of the doctor.',
      read: () => listWorst(doctor?.checks ?? []),
    },
    one(
      'doctor_time_seconds',
      'When the doctor examined last, Unix time.',
      (doctor?.atMs ?? 0) / 1000,
    ),
    one('ledger_restored', '1: the ledger must be re-baselined.', ledger.isRestored),
    one('open_votes', 'Stored votes that the custodian has not shown yet.', ledger.openVotes),
    one('waiting', 'Requests that wait.', ledger.waiting),
    one('manifests', 'Stored manifests.', ledger.manifests),
    {
      name: 'pool_approve_answers_total',
      help: 'Answers to the custodian since the start.',
      type: 'counter',
      read: () =>
        [...counts.answers].map(([value, count]) => ({ labels: { value }, value: count })),
    },
    one(
      'poll_failures_total',
      'Looks at the custodian that failed.',
      counts.pollFailures,
      'counter',
    ),
    one('policy_reloads_total', 'Policy files that took effect.', counts.policyReloads, 'counter'),
  ];
}

/** Two wallets have checks of one name: the worst counts. */
function listWorst(checks: readonly DoctorCheck[]) {
  const values = new Map<string, boolean>();
  for (const { name, ok } of checks) {
    values.set(name, ok && values.get(name) !== false);
  }
  return [...values].map(([check, ok]) => ({ labels: { check }, value: Number(ok) }));
}
