/** The dashboard and the alert rules (docs/operations/monitoring) name metrics that the services print, and sections that exist. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createMockProver } from '@pool/prover';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { renderAgentMetrics } from '../../apps/agent/src/http/metrics.ts';
import { listPlatformMeasures } from '../../apps/platform/src/platform-measures.ts';
import { listMeasures } from '../../packages/approve/src/http/metrics.ts';
import { createBuildMeasure } from '../../packages/http-server/src/service/metrics.ts';
import { listGateMeasures } from '../../packages/pool-gate/src/gate-measures.ts';

const folder = resolve(import.meta.dirname, '../../docs/operations/monitoring');
function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

const rules = read('alerts.yml');
const expressions: Readonly<Record<string, readonly string[]>> = {
  'alerts.yml': [...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, text = '']) => text),
  'dashboard.json': [...read('dashboard.json').matchAll(/"expr": "(.+)",?$/gm)].map(
    ([, text = '']) => text,
  ),
};

describe('what monitoring reads', () => {
  let printed: readonly string[];
  beforeAll(async () => {
    const prover = createMockProver();
    const text = renderAgentMetrics({
      version: '1.0.0',
      prover: prover.metrics(),
      usage: { rssBytes: 1, heapBytes: 1, cpuSeconds: 1, startedAtMs: 1 },
      unerasedJobs: 0,
      oldestJobs: {},
    });
    await prover.close();
    // Names need no database, no chain and no health.
    const nothing = undefined as never;
    const measures = [
      createBuildMeasure('platform', '1.0.0'),
      ...listPlatformMeasures(nothing, []),
      ...listGateMeasures({ db: nothing } as never),
      ...listMeasures({ ok: true, ledger: {} } as never, {} as never),
    ];
    printed = [
      ...[...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name),
      ...measures.map(({ name }) => name),
    ];
  });

  it.each(Object.keys(expressions))('%s names metrics that a service prints', (name) => {
    const named = new Set(
      (expressions[name] ?? []).flatMap((text) => text.match(/\b(?:pool|process)_\w+/g) ?? []),
    );
    expect(named.size).toBeGreaterThan(10);
    const missing = [...named].filter(
      (metric) => !printed.includes(metric.replace(/_bucket$/, '')),
    );
    expect(missing).toEqual([]);
  });

  it('has one prefix and base units', () => {
    const foreign = printed.filter((name) => !/^(?:pool|process|nodejs)_[a-z0-9_]+$/.test(name));
    expect(foreign).toEqual([]);
    expect(
      printed.filter((name) => /_(?:ms|millis\w*|minutes|[kmg]i?b|percent)\b/.test(name)),
    ).toEqual([]);
  });

  it('leads from each alert to a section that exists', () => {
    const runbooks = [...rules.matchAll(/^ +runbook: docs\/operations\/(\S+)#(\S+)$/gm)];
    expect(runbooks).toHaveLength([...rules.matchAll(/- alert: /g)].length);
    for (const [, file = '', anchor = ''] of runbooks) {
      const headings = [...readFileSync(join(folder, '..', file), 'utf8').matchAll(/^#+ (.+)$/gm)];
      const anchors = headings.map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^a-z0-9 -]/g, '')
          .replaceAll(' ', '-'),
      );
      expect(anchors).toContain(anchor);
    }
  });
});

type Rule = {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

type Case = {
  readonly metric: string;
  readonly label?: { readonly stage: string };
  /** What the metric has each minute, as promtool writes it: the alert holds at the end, and just does not. */
  readonly holds: string;
  readonly not: string;
};

/** By alert. Two hours, where `minutes` says nothing else. */
const cases: Readonly<Record<string, Case & { readonly minutes?: number }>> = {
  PoolServiceDown: { metric: 'up', holds: '0x120', not: '0x115 1x4' },
  PoolRelayerCannotSend: { metric: 'pool_relayer_ok', holds: '0x120', not: '1x115 0x4' },
  PoolRelayerNearDailyTotal: { metric: 'pool_relayer_day_used', holds: '0.81x120', not: '0.8x120' },
  PoolRelayerKeyWaits: { metric: 'pool_relayer_key_waits', holds: '1x120', not: '0x60 1x59' },
  PoolIndexHalted: { metric: 'pool_index_halted', holds: '1x120', not: '0x120' },
  PoolIndexBehind: { metric: 'pool_index_silent_seconds', holds: '601x120', not: '600x120' },
  PoolNoteTreeFills: { metric: 'pool_note_tree_fill', holds: '0.81x120', not: '0.8x120' },
  PoolGateChainSilent: {
    ...{ metric: 'pool_gate_chain_silent_seconds', holds: '601x120', not: '600x120' },
  },
  PoolPublicationStuck: {
    ...{ metric: 'pool_publication_open_seconds', holds: '3601x120', not: '3600x120' },
  },
  PoolEligibilityWaits: {
    ...{ metric: 'pool_eligibility_changes_waiting', holds: '1x120', not: '1x100 0 1x18' },
  },
  PoolEligibilityTreeFills: {
    ...{ metric: 'pool_eligibility_tree_fill', holds: '0.81x120', not: '0.8x120' },
  },
  PoolWrongProof: {
    ...{ metric: 'pool_prover_wrong_results_total', holds: '0x100 1x19', not: '1x120' },
  },
  PoolAcceleratorRetired: {
    ...{ metric: 'pool_prover_accelerator_retired', holds: '1x120', not: '0x120' },
  },
  PoolProofsWait: { metric: 'pool_prover_queued', holds: '1x120', not: '1x110 0 1x8' },
  PoolJobsNotErased: {
    ...{ metric: 'pool_agent_unerased_jobs', holds: '1x1500', not: '0x100 1x1399' },
    minutes: 1_500,
  },
  PoolJobDoesNotMove: {
    ...{ metric: 'pool_agent_oldest_job_seconds', holds: '3601x120', not: '3600x120' },
    label: { stage: 'proving' },
  },
  PoolApproveDoesNotVote: { metric: 'pool_approve_healthy', holds: '0x120', not: '1x120' },
  PoolApproveCanBeGoneAround: { metric: 'pool_approve_doctor_ok', holds: '0x120', not: '1x120' },
  PoolApproveLedgerRestored: {
    ...{ metric: 'pool_approve_ledger_restored', holds: '1x120', not: '0x120' },
  },
  PoolApproveVoteNotSeen: { metric: 'pool_approve_open_votes', holds: '1x120', not: '1x110 0 1x8' },
  PoolCustodianDoesNotAnswer: {
    ...{ metric: 'pool_approve_poll_failures_total', holds: '0+1x120', not: '0+0.5x120' },
  },
};
const { groups } = parse(rules) as { readonly groups: readonly { readonly rules: Rule[] }[] };
const alerts = groups.flatMap((group) => group.rules);

function createAlertTests(rule: Rule): readonly object[] {
  const found = cases[rule.alert];
  if (found === undefined) return [];
  const { metric, holds, not, label, minutes = 120 } = found;
  const test = (values: string, expected: readonly object[], labels: object | undefined) => {
    const text = Object.entries({ job: 'pool-x', ...labels }).map(
      ([name, of]) => `${name}="${of}"`,
    );
    const rules = [{ alertname: rule.alert, eval_time: `${minutes}m`, exp_alerts: expected }];
    const input = [{ series: `${metric}{${text}}`, values }];
    return { interval: '1m', input_series: input, alert_rule_test: rules };
  };
  const labels = { ...rule.labels, ...label, job: 'pool-x' };
  return [
    test(holds, [{ exp_labels: labels, exp_annotations: rule.annotations }], label),
    test(not, [], label),
    // A person's time is theirs.
    ...(label === undefined ? [] : [test(holds, [], { stage: 'awaiting-release' })]),
  ];
}

it('has a case for each alert', () => {
  expect(alerts.map(({ alert }) => alert).toSorted()).toEqual(Object.keys(cases).toSorted());
});

const hasPromtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0;

describe.skipIf(!hasPromtool)(
  'alert rules (without promtool it is skipped: apt-get install prometheus)',
  () => {
    it('alert above their limits, and not at them or before their time', () => {
      const place = mkdtempSync(join(tmpdir(), 'pool-alerts-'));
      onTestFinished(() => rmSync(place, { recursive: true }));
      const file = join(place, 'tests.yml');
      const rule_files = [join(folder, 'alerts.yml')];
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ rule_files, tests: alerts.flatMap(createAlertTests) }));
      const ended = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
      expect(`${ended.stderr}${ended.stdout}`).toMatch(/SUCCESS\s*$/);
    });
  },
);
