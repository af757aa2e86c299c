/** The dashboard and the alert rules (docs/operations/monitoring) name metrics that the services print, and sections that exist. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createMockProver } from '@pool/prover';
import { beforeAll, describe, expect, it } from 'vitest';
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
