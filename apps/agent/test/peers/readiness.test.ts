// Readiness: each probe has a timeout and a short cache, and the route answers 200 or 503.
import { PoolError } from '@pool/core';
import { createReadiness, type Finding } from '@pool/operations';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../src/fixtures/test-app.ts';

const up: Finding = { ok: true, detail: { kind: 'cpu', message: 'two threads' } };

function createLooks(platform: () => Promise<Finding>) {
  const clock = { nowMs: 0 };
  const calls = { platform: 0 };
  const readiness = createReadiness(
    {
      accelerator: async () => up,
      signer: async () => up,
      poolGate: async () => up,
      platform: () => {
        calls.platform += 1;
        return platform();
      },
      chains: async () => up,
    },
    { nowMs: () => clock.nowMs, timeoutMs: 20, keepMs: 1_000 },
  );
  return { readiness, clock, calls };
}

describe('GET /api/readyz', () => {
  it('answers without a credential with the finding of each part, CPU proving included [health.readyz, health.readyz-open]', async () => {
    const { get, state } = createTestApp();
    state.findings.accelerator = up;
    const answer = await get('/api/readyz', { authorization: '' });
    expect(answer.status).toBe(200);
    const reachable = { kind: 'reachable', message: 'it answers' };
    expect(await answer.json()).toEqual({
      ok: true,
      checks: {
        accelerator: { ...up, latencyMs: 0 },
        signer: { ok: true, detail: reachable, latencyMs: 0 },
        poolGate: { ok: true, detail: reachable, latencyMs: 0 },
        platform: { ok: true, detail: reachable, latencyMs: 0 },
        chains: { ok: true, detail: reachable, latencyMs: 0 },
      },
    });
  });

  it.each(['accelerator', 'signer', 'poolGate', 'platform', 'chains'] as const)(
    'is 503 while the %s is down, and says so [health.readyz]',
    async (name) => {
      const { get, state } = createTestApp();
      state.findings[name] = { ok: false, detail: { kind: 'none', message: 'm' } };
      const answer = await get('/api/readyz');
      expect(answer.status).toBe(503);
      const { ok, checks } = (await answer.json()) as {
        ok: boolean;
        checks: Record<string, { ok: boolean }>;
      };
      expect(ok).toBe(false);
      expect(Object.keys(checks).filter((one) => checks[one]?.ok === false)).toEqual([name]);
    },
  );

  it('reports a part that does not answer in time as down, and does not probe it again at once', async () => {
    const { get, state, clock } = createTestApp();
    state.findings.platform = undefined;
    const answer = await get('/api/readyz');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      checks: { platform: { ok: false, detail: { kind: 'timeout' } }, signer: { ok: true } },
    });
    await Promise.all(Array.from({ length: 50 }, async () => get('/api/readyz')));
    expect(state.probed).toBe(5);
    clock.advanceSeconds(2);
    state.findings.platform = up;
    expect((await get('/api/readyz')).status).toBe(200);
    expect(state.probed).toBe(10);
  });
});

describe('createReadiness', () => {
  it('probes once for concurrent requests, and again when the result is old', async () => {
    const { readiness, clock, calls } = createLooks(async () => up);
    await Promise.all([readiness.read(), readiness.read(), readiness.check('platform')]);
    expect(calls.platform).toBe(1);
    clock.nowMs = 999;
    await readiness.read();
    expect(calls.platform).toBe(1);
    clock.nowMs = 1_000;
    await readiness.read();
    expect(calls.platform).toBe(2);
  });

  it.each([
    ['unreachable', new PoolError('platform_unreachable', 'canary')],
    ['unreachable', new Error('canary')],
    ['refused', new PoolError('unauthorized', 'canary')],
    ['refused', new PoolError('gate_unauthorized', 'canary')],
    ['refused', new PoolError('approver_refused', 'canary')],
    ['refused', new PoolError('manifest_refused', 'canary')],
    ['refused', new PoolError('custodian_refused', 'canary')],
    ['misconfigured', new PoolError('custodian_misconfigured', 'canary')],
    ['refused', new PoolError('enclave_not_attested', 'canary')],
  ])('reports %s without the message of the other party', async (kind, error) => {
    const { readiness } = createLooks(() => Promise.reject(error));
    const { ok, checks } = await readiness.read();
    expect(ok).toBe(false);
    expect(checks.platform).toMatchObject({ ok: false, detail: { kind } });
    expect(JSON.stringify(checks)).not.toContain('canary');
  });
});
