// The platform's relayer in readiness and in a dry run (docs/decisions/0007).
import type { Bootstrap } from '@pool/api';
import { PoolError } from '@pool/core';
import { createPlatformProbe, createReadiness, type Finding, findOutages } from '@pool/operations';
import { describe, expect, it } from 'vitest';
import { bootstrap } from '../../src/fixtures/test-app.ts';

const up: Finding = { ok: true, detail: { kind: 'reachable', message: 'it answers' } };

/** An agent with these chains whose platform answers `state.relayer`, or does not answer. */
function createAgent(...chains: string[]) {
  const state = {
    relayer: undefined as Bootstrap['relayer'],
    failure: undefined as PoolError | undefined,
    invalid: {} as Record<string, string>,
    gate: up,
  };
  const platform = createPlatformProbe(
    async () => {
      if (state.failure !== undefined) {
        throw state.failure;
      }
      return { ...bootstrap, ...(state.relayer === undefined ? {} : { relayer: state.relayer }) };
    },
    chains,
    (key) => state.invalid[key],
  );
  const { check } = createReadiness(
    {
      accelerator: async () => up,
      signer: async () => up,
      poolGate: async () => state.gate,
      platform: platform.probe,
      chains: async () => up,
    },
    // No cache: each request probes again.
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
    ['an older platform does not report it', undefined],
    ['the platform does not know yet', {}],
    ['it is healthy', { anvil: { ok: true } }],
    ['another chain’s is down', { base: { ok: false, code: 'insufficient_gas' } }],
  ])('causes no finding when %s', async (_what, relayer) => {
    const { state, check, codes } = createAgent('anvil');
    state.relayer = relayer;
    expect(await codes('anvil')).toEqual([]);
    expect(await check()).toMatchObject({ ok: true, kind: 'reachable' });
  });

  it('stops batches of its chain, and is not reported as a platform outage', async () => {
    const { state, check, findings, codes } = createAgent('anvil');
    state.relayer = { anvil: { ok: false, code: 'transaction_stuck' } };
    expect(await findings('anvil')).toEqual([
      { code: 'relayer_unavailable', message: expect.stringContaining('is not mined') },
    ]);
    expect(await codes(undefined)).toEqual([]);
    expect(await check()).toEqual({
      ok: false,
      kind: 'relayer_unavailable',
      message: expect.stringMatching(/answers bootstrap; on chain anvil its relayer has a trans/),
    });
    state.gate = { ok: false, detail: { kind: 'none', message: 'm' } };
    expect(await codes('anvil')).toEqual(['relayer_unavailable', 'gate_unreachable']);
  });

  it('leaves the agent in service while it can pay on one of its chains', async () => {
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

  it('is not reported when the platform itself does not answer', async () => {
    const { state, check, codes } = createAgent('anvil');
    state.relayer = { anvil: { ok: false, code: 'stalled' } };
    expect(await codes('anvil')).toEqual(['relayer_unavailable']);
    state.failure = new PoolError('platform_unreachable', 'it is down');
    expect(await codes('anvil')).toEqual(['platform_unreachable']);
    expect(await check()).toMatchObject({ ok: false, kind: 'unreachable' });
    Object.assign(state, { failure: undefined, relayer: undefined });
    expect(await codes('anvil')).toEqual([]);
  });
});

describe('a platform that does not answer correctly', () => {
  it('is not an outage when it refuses the edge token; the message gives advice', async () => {
    const { state, check, findings } = createAgent('anvil');
    state.failure = new PoolError('unauthorized', 'canary');
    const message = expect.stringContaining('platform edge-token create');
    expect(await findings('anvil')).toEqual([{ code: 'edge_token_refused', message }]);
    expect(await check()).toEqual({ ok: false, kind: 'edge_token_refused', message });
  });

  it('is not an outage when its answer is malformed; the message says where', async () => {
    const { state, check, findings } = createAgent('anvil');
    const message = "the platform's answer is malformed: chain: missing";
    state.failure = new PoolError('platform_invalid_response', message);
    const found = expect.stringContaining('chain: missing');
    expect(await findings('anvil')).toEqual([
      { code: 'platform_invalid_response', message: found },
    ]);
    expect(await check()).toEqual({ ok: false, kind: 'platform_invalid_response', message: found });
  });
});

describe('chains that the platform describes differently', () => {
  it('take the agent out of service when no other chain remains', async () => {
    const { state, check, codes } = createAgent('anvil', 'base');
    state.invalid = { anvil: 'why not anvil' };
    expect(await check()).toMatchObject({
      ok: true,
      kind: 'chain_invalid',
      message: expect.stringContaining('why not anvil'),
    });
    state.invalid = { anvil: 'why not anvil', base: 'why not base' };
    expect(await check()).toEqual({
      ok: false,
      kind: 'invalid-chain',
      message: expect.stringMatching(/why not anvil; why not base/),
    });
    // The checks of a batch report the invalid chain.
    expect(await codes(undefined)).toEqual([]);
  });

  it('leave in service only the chains that the relayer serves', async () => {
    const { state, check } = createAgent('anvil', 'base');
    state.invalid = { anvil: 'why not anvil' };
    state.relayer = { base: { ok: false, code: 'stalled' } };
    const { ok, kind, message } = await check();
    expect([ok, kind]).toEqual([false, 'relayer_unavailable']);
    expect(message).toContain('why not anvil');
  });
});
