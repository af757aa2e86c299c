// The platform's relayer, as readiness and a dry run see it (docs/decisions/0009).
import { type Bootstrap, PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { bootstrap } from './fixtures/test-app.ts';
import { findOutages } from './outages.ts';
import { createPlatformProbe } from './platform-probe.ts';
import { createReadiness, type Finding } from './readiness.ts';

const up: Finding = { ok: true, detail: { kind: 'reachable', message: 'it answers' } };

/** An agent of these chains whose platform answers `state.relayer`, or nothing at all. */
function createAgent(...chains: string[]) {
  const state = {
    relayer: undefined as Bootstrap['relayer'],
    isDown: false,
    gate: up,
  };
  const platform = createPlatformProbe(async () => {
    if (state.isDown) {
      throw new PoolError('platform_unreachable', 'it is down', { status: 503 });
    }
    return { ...bootstrap, ...(state.relayer === undefined ? {} : { relayer: state.relayer }) };
  }, chains);
  const { check } = createReadiness(
    {
      accelerator: async () => up,
      signer: async () => up,
      poolGate: async () => state.gate,
      platform: platform.probe,
    },
    // Nothing is kept: each look is a new one.
    { nowMs: () => 0, keepMs: 0 },
  );
  const deps = { check, hasGate: () => true, readRelayer: platform.readRelayer };
  return {
    state,
    check: async () => {
      const { ok, detail } = await check('platform');
      return { ok, ...detail };
    },
    codes: async (chain: string | undefined) =>
      (await findOutages(deps, chain)).map(({ code }) => code),
    findings: (chain: string) => findOutages(deps, chain),
  };
}

describe('the relayer behind a platform that answers', () => {
  it.each([
    ['an older platform says nothing of it', undefined],
    ['the platform does not know yet', {}],
    ['it is well', { anvil: { ok: true } }],
    ['another chain’s is down', { base: { ok: false, code: 'insufficient_gas' } }],
  ])('is held against nobody when %s', async (_what, relayer) => {
    const { state, check, codes } = createAgent('anvil');
    state.relayer = relayer;
    expect(await codes('anvil')).toEqual([]);
    expect(await check()).toMatchObject({ ok: true, kind: 'reachable' });
  });

  it('stops batches of its chain, and is not called a platform that does not answer', async () => {
    const { state, check, findings, codes } = createAgent('anvil');
    state.relayer = { anvil: { ok: false, code: 'transaction_stuck' } };
    expect(await findings('anvil')).toEqual([
      { code: 'relayer_unavailable', message: expect.stringContaining('nobody mines') },
    ]);
    expect(await codes(undefined)).toEqual([]);
    expect(await check()).toEqual({
      ok: false,
      kind: 'relayer_unavailable',
      message: expect.stringMatching(/answers bootstrap; on chain anvil its relayer has a trans/),
    });
    state.gate = { ok: false, detail: { kind: 'none', message: 'm' } };
    expect(await codes('anvil')).toEqual(['relayer_unavailable', 'gate_unavailable']);
  });

  it('leaves the agent in service while one of its chains can be paid on', async () => {
    const { state, check, codes } = createAgent('anvil', 'base');
    state.relayer = { anvil: { ok: false, code: 'stalled' }, base: { ok: true } };
    expect(await check()).toMatchObject({ ok: true, kind: 'relayer_degraded' });
    expect([await codes('anvil'), await codes('base')]).toEqual([['relayer_unavailable'], []]);
    state.relayer = { anvil: { ok: false }, base: { ok: false, code: 'stalled' } };
    const { ok, message } = await check();
    expect(ok).toBe(false);
    expect(message).toContain('anvil');
    expect(message).toContain('base');
  });

  it('is forgotten when the platform itself does not answer', async () => {
    const { state, check, codes } = createAgent('anvil');
    state.relayer = { anvil: { ok: false, code: 'stalled' } };
    expect(await codes('anvil')).toEqual(['relayer_unavailable']);
    state.isDown = true;
    expect(await codes('anvil')).toEqual(['platform_unavailable']);
    expect(await check()).toMatchObject({ ok: false, kind: 'unreachable' });
    Object.assign(state, { isDown: false, relayer: undefined });
    expect(await codes('anvil')).toEqual([]);
  });
});
