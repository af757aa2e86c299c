/**
 * The gate's metrics in Prometheus' text format. No amount, address or key is in them.
 *
 * @module
 */
import type { GateHealth } from '../examine/health.ts';

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

export type Counts = {
  /** Answers to the custodian by value since the process began: approve, deny, retry. */
  readonly answers: ReadonlyMap<string, number>;
  readonly pollFailures: number;
  readonly policyReloads: number;
};

type Row = readonly [labels: string, value: number];

export function renderMetrics(health: GateHealth, counts: Counts): string {
  const { ledger, doctor } = health;
  const checks = (doctor?.checks ?? []).map(
    ({ name, ok }): Row => [`{check="${name}"}`, ok ? 1 : 0],
  );
  return [
    renderOne('approve_healthy', 'gauge', '1: the gate votes.', health.ok ? 1 : 0),
    renderOne(
      'approve_doctor_ok',
      'gauge',
      '1: the gate cannot be gone around.',
      doctor?.ok === true ? 1 : 0,
    ),
    render('approve_doctor_check_ok', 'gauge', 'One check of the doctor.', worst(checks)),
    renderOne(
      'approve_doctor_time_seconds',
      'gauge',
      'When the doctor examined last, Unix time.',
      (doctor?.atMs ?? 0) / 1000,
    ),
    renderOne(
      'approve_ledger_restored',
      'gauge',
      '1: the ledger must be re-baselined.',
      ledger.isRestored ? 1 : 0,
    ),
    renderOne(
      'approve_open_votes',
      'gauge',
      'Stored votes that the custodian has not shown yet.',
      ledger.openVotes,
    ),
    renderOne('approve_waiting', 'gauge', 'Requests that wait.', ledger.waiting),
    renderOne('approve_manifests', 'gauge', 'Stored manifests.', ledger.manifests),
    render(
      'approve_answers_total',
      'counter',
      'Answers to the custodian since the start.',
      [...counts.answers].map(([value, count]): Row => [`{value="${value}"}`, count]),
    ),
    renderOne(
      'approve_poll_failures_total',
      'counter',
      'Looks at the custodian that failed.',
      counts.pollFailures,
    ),
    renderOne(
      'approve_policy_reloads_total',
      'counter',
      'Policy files that took effect.',
      counts.policyReloads,
    ),
  ].join('');
}

/** Two wallets have checks of one name: the worst counts. */
function worst(checks: readonly Row[]): readonly Row[] {
  const values = new Map<string, number>();
  for (const [labels, value] of checks) {
    values.set(labels, Math.min(value, values.get(labels) ?? 1));
  }
  return [...values];
}

function renderOne(name: string, type: 'gauge' | 'counter', help: string, value: number): string {
  return render(name, type, help, [['', value]]);
}

function render(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  rows: readonly Row[],
): string {
  const lines = rows.map(([labels, value]) => `${name}${labels} ${value}\n`).join('');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
}
