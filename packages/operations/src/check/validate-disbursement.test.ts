// The dry run: every issue of the one check path, the allowance as observed, and what else would stop it.
import { PoolError } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createWorld, type WorldOptions } from '../fixtures/fake-world.ts';
import { describeRelayerTrouble, findRelayerOutage, type PreflightFinding } from './preflight.ts';
import { createMalformedReport, validateDisbursement } from './validate-disbursement.ts';

const stranger = createFakeHolder(99).address;
const total = 6_000n;

async function createValidation(options: WorldOptions = {}) {
  const world = await createWorld(options);
  world.chain.allowance = total;
  const outages: PreflightFinding[] = [];
  /** Chains whose outages were asked for. */
  const asked: (string | undefined)[] = [];
  const deps = {
    checks: world.checks,
    funder: world.funder.address,
    findOutages: async (chain: string | undefined) => {
      asked.push(chain);
      return outages;
    },
  };
  return {
    world,
    outages,
    asked,
    validate: (body: unknown = world.createRequest(), changes: Partial<typeof deps> = {}) =>
      validateDisbursement(body, { ...deps, ...changes }),
  };
}

describe('validateDisbursement', () => {
  it('passes a good request, without a preflight field [report.ok, report.allowance-state, validate.proves-nothing]', async () => {
    const { validate, world } = await createValidation();
    expect(await validate()).toEqual({ ok: true, allowanceState: 'sufficient', issues: [] });
    expect(world.platform.posts).toBe(0);
    expect(world.prover.proofs).toBe(0);
  });

  it('does not report an allowance as sufficient if an amount is missing from the total', async () => {
    const { validate, world } = await createValidation();
    const [first] = world.createRequest().recipients;
    const withAmounts = (...amounts: string[]) => ({
      token: 'USDC',
      recipients: amounts.map((amount, index) => ({
        recipientAddress: world.holders[index]?.address ?? first?.recipientAddress,
        amount,
      })),
    });
    for (const [amounts, allowanceState] of [
      [['x'], 'unknown'],
      [['1', '0'], 'unknown'],
      [[`${total + 1n}`, '0'], 'insufficient'],
      [['1', '2'], 'sufficient'],
    ] as const) {
      expect(await validate(withAmounts(...amounts))).toMatchObject({ allowanceState });
    }
  });

  it('lists every issue with its index and severity, also after a bad amount [report.issues]', async () => {
    const { validate } = await createValidation();
    const report = await validate({
      token: 'DOGE',
      recipients: [
        { recipientAddress: 'me', amount: '0' },
        { recipientAddress: stranger, amount: 'x' },
        { recipientAddress: stranger, amount: '1' },
      ],
    });
    expect(report.ok).toBe(false);
    expect(report.issues.map(({ requestIndex, code }) => [requestIndex, code])).toEqual([
      [-1, 'invalid-token'],
      [0, 'invalid-amount'],
      [0, 'invalid-address'],
      [1, 'invalid-amount'],
      [2, 'duplicate-recipient'],
      [1, 'unregistered-recipient'],
    ]);
    expect(new Set(report.issues.map(({ severity }) => severity))).toEqual(new Set(['error']));
  });

  it('lists who would be skipped, also with other issues [request.unregistered-skip]', async () => {
    const { validate, world } = await createValidation();
    const request = world.createRequest({ unregistered: 'skip' });
    const skipped = [
      {
        requestIndex: 3,
        recipientAddress: stranger,
        code: 'unregistered-recipient',
        message: expect.stringContaining('has not signed in and enrolled'),
      },
    ];
    const recipients = [...request.recipients, { recipientAddress: stranger, amount: '5' }];
    expect(await validate({ ...request, recipients })).toEqual({
      ok: true,
      allowanceState: 'sufficient',
      issues: [],
      skipped,
    });
    const report = await validate({ ...request, recipients, token: 'DOGE' });
    expect(report).toMatchObject({ ok: false, issues: [{ code: 'invalid-token' }], skipped });
    expect(await validate(request)).not.toHaveProperty('skipped');
  });

  it('continues after a batch that is too large and an unknown chain', async () => {
    const { validate, world } = await createValidation({ maxRecipients: 2 });
    const bad = { recipientAddress: 'me', amount: '0' };
    const codes = async (body: unknown) => (await validate(body)).issues.map(({ code }) => code);
    expect(await codes({ token: 'USDC', recipients: [bad, bad, bad] })).toEqual([
      'batch-too-large',
      ...[0, 1, 2].flatMap(() => ['invalid-amount', 'invalid-address']),
    ]);
    // The format of an address depends on the chain.
    expect(await codes({ token: 'USDC', chain: 'mars', recipients: [bad] })).toEqual([
      'invalid-chain',
      'invalid-amount',
    ]);
    expect(world.platform.lookups).toBe(0);
  });

  const manyHolders = Array.from({ length: 600 }, (_, index) => createFakeHolder(1_000 + index));
  const listPeople = (count: number) =>
    manyHolders.slice(0, count).map(({ address }) => ({ recipientAddress: address, amount: '1' }));

  it('looks up all recipients of a batch that is too large, 256 at a time', async () => {
    const { validate, world } = await createValidation({ maxRecipients: 2 });
    for (const holder of manyHolders.filter((_, index) => index !== 590)) {
      world.platform.enroll(holder);
    }
    const report = await validate({ token: 'USDC', recipients: listPeople(600) });
    expect(report.issues.map(({ requestIndex, code }) => [requestIndex, code])).toEqual([
      [-1, 'batch-too-large'],
      [590, 'unregistered-recipient'],
    ]);
    expect(world.platform.lookups).toBe(3);
  });

  it('reports the issues that it found before a look-up failed', async () => {
    const { validate, world } = await createValidation();
    const body = { token: 'USDC', recipients: listPeople(300) };
    const lookUp = world.platform.lookupRecipients;
    world.platform.lookupRecipients = (chain, addresses) => {
      world.platform.failCalls(addresses.length < 256 ? 1 : 0);
      return lookUp(chain, addresses);
    };
    const { issues, preflight } = await validate(body);
    expect(issues.filter(({ code }) => code === 'unregistered-recipient')).toHaveLength(256);
    expect(preflight?.map(({ code }) => code)).toContain('platform_unreachable');
  });

  it('looks up 10,000 people at most, and reports this limit', async () => {
    const { validate, world } = await createValidation();
    const recipients = Array.from({ length: 10_001 }, (_, index) => ({
      recipientAddress: `0x${(index + 1).toString(16).padStart(40, '0')}`,
      amount: '1',
    }));
    const { issues } = await validate({ token: 'USDC', recipients });
    expect(world.platform.lookups).toBe(Math.ceil(10_000 / 256));
    expect(issues.filter(({ code }) => code === 'unregistered-recipient')).toHaveLength(10_000);
    expect(issues.filter(({ code }) => code === 'batch-too-large')[1]?.message).toContain(
      'only the first 10000 recipients were looked up',
    );
  });

  it('continues after malformed recipients, with one issue for each', async () => {
    const { validate, world } = await createValidation();
    const [first, second] = world.createRequest().recipients;
    const report = await validate({
      token: 'USDC',
      recipients: [
        { ...first, memo: 'a\u202eb' },
        { ...second, amount: 5 },
        { recipientAddress: stranger, amount: '0' },
        'nobody',
        { ...first, extra: 1 },
      ],
    });
    expect(report.issues.map(({ requestIndex, code }) => [requestIndex, code])).toEqual([
      [0, 'invalid_request'],
      [1, 'invalid_request'],
      [3, 'invalid_request'],
      [4, 'invalid_request'],
      [2, 'invalid-amount'],
      [4, 'duplicate-recipient'],
      [2, 'unregistered-recipient'],
    ]);
    expect(report).toMatchObject({ ok: false, allowanceState: 'unknown' });
  });

  it('has one issue for a malformed body, and asks no service', async () => {
    const { validate, outages, world } = await createValidation();
    outages.push({ code: 'gate_unreachable', message: 'm' });
    world.chain.failReads(10);
    const report = await validate({ token: 7 });
    expect(report).toEqual({
      ok: false,
      allowanceState: 'unknown',
      issues: [
        {
          requestIndex: -1,
          code: 'invalid_request',
          message: expect.stringContaining('token'),
          severity: 'error',
        },
      ],
    });
    expect(createMalformedReport('not JSON').issues[0]).toEqual({
      ...report.issues[0],
      message: 'not JSON',
    });
  });

  it('reports sufficient, insufficient or unknown from the chain [report.allowance-state]', async () => {
    const { validate, world } = await createValidation({ permit: true });
    world.chain.allowance = total - 1n;
    expect(await validate()).toEqual({ ok: true, allowanceState: 'insufficient', issues: [] });
    world.chain.failReads(2);
    expect(await validate()).toMatchObject({
      ok: false,
      allowanceState: 'unknown',
      issues: [],
      preflight: [{ code: 'chain_unreachable' }],
    });
  });

  it('counts only those who would be paid', async () => {
    const { validate, world } = await createValidation();
    const recipients = [
      ...world.createRequest().recipients,
      { recipientAddress: stranger, amount: '1' },
    ];
    const request = { token: 'USDC', recipients };
    expect((await validate({ ...request, unregistered: 'skip' })).allowanceState).toBe(
      'sufficient',
    );
    expect((await validate(request)).allowanceState).toBe('insufficient');
  });
});

describe('preflight', () => {
  const codesOf = (findings: readonly PreflightFinding[] | undefined) =>
    findings?.map(({ code }) => code);

  it('finds that the funder holds too little', async () => {
    const { validate, world } = await createValidation();
    world.chain.balance = total;
    expect((await validate()).ok).toBe(true);
    world.chain.balance = total - 1n;
    const report = await validate();
    expect(report.ok).toBe(false);
    expect(report.issues).toEqual([]);
    expect(codesOf(report.preflight)).toEqual(['insufficient_balance']);
  });

  // 60,000 gas at twice the fake chain's base fee of 1,000,000 wei, and 1 wei: the price of an approval there.
  const gas = 60_000n * 2_000_001n;
  it.each([
    ['an approval', {}, 0n, gas],
    ['two, where the token requires zero first', { zeroFirst: true }, 1n, 2n * gas],
    ['none, where the allowance suffices', {}, total, 0n],
    ['none, where the token has a permit', { permit: true }, 0n, 0n],
  ])('requires gas for %s', async (_what, options, allowance, needed) => {
    const { validate, world } = await createValidation(options);
    world.chain.allowance = allowance;
    world.chain.coin = needed;
    expect((await validate()).ok).toBe(true);
    if (needed > 0n) {
      world.chain.coin = needed - 1n;
      expect(codesOf((await validate()).preflight)).toEqual(['insufficient_gas']);
    }
  });

  it('reports each outage, and a platform that does not answer look-ups once', async () => {
    const { validate, outages, world } = await createValidation();
    const [first] = world.createRequest().recipients;
    const body = { token: 'USDC', recipients: [first, { recipientAddress: 'me', amount: '1' }] };
    world.platform.failCalls(1);
    const report = await validate(body);
    expect(report.issues.map(({ code }) => code)).toEqual(['invalid-address']);
    expect(codesOf(report.preflight)).toEqual(['platform_unreachable']);
    expect(report.allowanceState).toBe('sufficient');

    outages.push({ code: 'platform_unreachable', message: 'm' });
    outages.push({ code: 'gate_unreachable', message: 'm' });
    world.platform.failCalls(1);
    expect(codesOf((await validate()).preflight)).toEqual([
      'platform_unreachable',
      'gate_unreachable',
    ]);
  });

  it('asks for the outages of the chain of the batch', async () => {
    const { validate, asked, outages, world } = await createValidation();
    outages.push({ code: 'relayer_unavailable', message: 'm' });
    expect(codesOf((await validate()).preflight)).toEqual(['relayer_unavailable']);
    await validate({ ...world.createRequest(), chain: 'mars' });
    expect(asked).toEqual(['anvil', undefined]);
  });

  it.each([
    ['chain_unreachable', 'cannot reach the chain'],
    ['insufficient_gas', 'too little coin'],
    ['fee_cap_reached', 'below its cap'],
    ['daily_total_reached', 'may spend in 24 hours'],
    ['transaction_stuck', 'is not mined'],
    ['stalled', 'does not work'],
    // An answer that a later platform may give, and an answer that no platform should give.
    ['something_new', 'cannot send a batch'],
    ['constructor', 'cannot send a batch'],
    [undefined, 'cannot send a batch'],
  ])('reports for a relayer that is down (%s) the problem and what to do', (code, words) => {
    const health = { ok: false, ...(code === undefined ? {} : { code }) };
    const finding = findRelayerOutage('anvil', health);
    expect(finding?.code).toBe('relayer_unavailable');
    expect(finding?.message).toContain(`chain anvil ${describeRelayerTrouble(health)}`);
    expect(finding?.message).toContain(words);
    expect(finding?.message).toContain('try again later');
  });

  it('reports no issue for a relayer whose state is unknown', () => {
    expect(findRelayerOutage('anvil', undefined)).toBeUndefined();
    expect(findRelayerOutage('anvil', { ok: true })).toBeUndefined();
  });

  it('reports before bootstrap, and treats no other error as an answer', async () => {
    const { validate, world } = await createValidation();
    const failing = (status: number) => ({
      checks: {
        ...world.checks,
        routeChain: () => {
          throw new PoolError('platform_unreachable', 'm', { status });
        },
      },
    });
    const dead = {
      ...world.checks,
      routeChain: () => {
        throw new PoolError('edge_token_refused', 'm');
      },
    };
    const { preflight } = await validate(undefined, { checks: dead });
    expect(preflight).toEqual([{ code: 'edge_token_refused', message: 'm' }]);
    const report = await validate(undefined, failing(503));
    expect(report).toMatchObject({ ok: false, allowanceState: 'unknown', issues: [] });
    expect(codesOf(report.preflight)).toEqual(['platform_unreachable']);
    await expect(validate(undefined, failing(500))).rejects.toMatchObject({ status: 500 });
  });
});
