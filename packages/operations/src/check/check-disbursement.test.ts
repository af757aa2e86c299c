// The order of checks and every code of a refused disbursement (docs/decisions/0007).
import { canonicalDigest, PoolError, parseEncryptionPublicKey } from '@pool/core';
import { createFakeHolder, signFakeEvidence } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../fixtures/fake-world.ts';
import { checkDisbursement, collectIssues } from './check-disbursement.ts';

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught as { code: string },
  );
  return error?.code ?? 'passed';
}

const stranger = createFakeHolder(99).address;

describe('checkDisbursement', () => {
  it('passes a good request and keeps the order of recipients', async () => {
    const world = await createWorld();
    const checked = await checkDisbursement(world.createRequest(), world.checks);
    expect(checked.recipients.map(({ address }) => address)).toEqual(
      world.holders.map(({ address }) => address),
    );
    expect(checked.total).toBe(6_000n);
    expect(checked.requestDigest).toBe(canonicalDigest(world.createRequest()));
  });

  it('treats a lower-case address as the checksummed one', async () => {
    const world = await createWorld();
    const recipientAddress = world.holders[0]!.address.toLowerCase();
    const request = { token: 'USDC', recipients: [{ recipientAddress, amount: '1' }] };
    const checked = await checkDisbursement(request, world.checks);
    expect(checked.recipients[0]?.address).toBe(world.holders[0]!.address);
  });

  it('refuses a batch above the largest circuit, with any ceiling', async () => {
    const world = await createWorld({ maxRecipients: 300 });
    const recipients = Array.from({ length: 257 }, () => entry);
    const refused = checkDisbursement({ token: 'USDC', recipients }, world.checks);
    expect(await codeOf(refused)).toBe('batch-too-large');
    expect(world.platform.lookups).toBe(0);
  });

  const address = createFakeHolder(1).address;
  const entry = { recipientAddress: address, amount: '1' };
  const cases: [string, string, unknown][] = [
    ['a body that is not an object', 'invalid_request', 7],
    ['an unknown field', 'invalid_request', { token: 'USDC', recipients: [entry], extra: 1 }],
    ['an empty list', 'invalid_request', { token: 'USDC', recipients: [] }],
    [
      'an amount that is a number',
      'invalid_request',
      { token: 'USDC', recipients: [{ ...entry, amount: 1 }] },
    ],
    [
      'a memo of 112 bytes',
      'invalid_request',
      { token: 'USDC', recipients: [{ ...entry, memo: 'é'.repeat(56) }] },
    ],
    ['an unknown chain', 'invalid-chain', { token: 'USDC', chain: 'mars', recipients: [entry] }],
    ['an unknown token', 'invalid-token', { token: 'DOGE', recipients: [entry] }],
    ['a property name as token', 'invalid-token', { token: 'constructor', recipients: [entry] }],
    [
      'a raw token address',
      'invalid-token',
      { token: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512', recipients: [entry] },
    ],
    [
      'more recipients than the ceiling',
      'batch-too-large',
      { token: 'USDC', recipients: Array.from({ length: 65 }, () => entry) },
    ],
    ['an empty token', 'invalid-token', { token: '', recipients: [entry] }],
    ['a token of 200 letters', 'invalid-token', { token: 'A'.repeat(200), recipients: [entry] }],
    ['an empty chain', 'invalid-chain', { token: 'USDC', chain: '', recipients: [entry] }],
    [
      'an empty address',
      'invalid-address',
      { token: 'USDC', recipients: [{ ...entry, recipientAddress: '' }] },
    ],
    [
      '10,001 recipients',
      'batch-too-large',
      { token: 'USDC', recipients: Array.from({ length: 10_001 }, () => entry) },
    ],
    [
      'an amount of 200 digits',
      'invalid-amount',
      { token: 'USDC', recipients: [{ ...entry, amount: '1'.repeat(200) }] },
    ],
    ['amount zero', 'invalid-amount', { token: 'USDC', recipients: [{ ...entry, amount: '0' }] }],
    [
      'a leading zero',
      'invalid-amount',
      { token: 'USDC', recipients: [{ ...entry, amount: '01' }] },
    ],
    ['a sign', 'invalid-amount', { token: 'USDC', recipients: [{ ...entry, amount: '+1' }] }],
    ['a point', 'invalid-amount', { token: 'USDC', recipients: [{ ...entry, amount: '1.0' }] }],
    [
      '2^128',
      'invalid-amount',
      { token: 'USDC', recipients: [{ ...entry, amount: (2n ** 128n).toString() }] },
    ],
    [
      'no address',
      'invalid-address',
      { token: 'USDC', recipients: [{ recipientAddress: 'me', amount: '1' }] },
    ],
    [
      'a wrong checksum',
      'invalid-address',
      {
        token: 'USDC',
        recipients: [{ recipientAddress: address.toUpperCase().replace('0X', '0x'), amount: '1' }],
      },
    ],
    [
      'the same address in two spellings',
      'duplicate-recipient',
      { token: 'USDC', recipients: [entry, { ...entry, recipientAddress: address.toLowerCase() }] },
    ],
    [
      'a stranger',
      'unregistered-recipient',
      { token: 'USDC', recipients: [entry, { ...entry, recipientAddress: stranger }] },
    ],
  ];
  it.each(cases)(
    'refuses %s with %s [request.token-symbol, request.recipients, request.amounts, error.invalid-amount, error.invalid-address, limit.amounts]',
    async (_what, code, body) => {
      const world = await createWorld();
      expect(await codeOf(checkDisbursement(body, world.checks))).toBe(code);
    },
  );

  it('checks chain before token before size before amounts before registration', async () => {
    const world = await createWorld();
    const bad = { recipientAddress: stranger, amount: '0' };
    const many = Array.from({ length: 65 }, () => bad);
    const steps: [unknown, string][] = [
      [{ token: 'DOGE', chain: 'mars', recipients: many }, 'invalid-chain'],
      [{ token: 'DOGE', recipients: many }, 'invalid-token'],
      [{ token: 'USDC', recipients: many }, 'batch-too-large'],
      [{ token: 'USDC', recipients: [{ recipientAddress: 'me', amount: '0' }] }, 'invalid-amount'],
      [
        {
          token: 'USDC',
          recipients: [
            { ...bad, amount: '1' },
            { ...bad, amount: '0' },
          ],
        },
        'invalid-amount',
      ],
    ];
    for (const [body, code] of steps) {
      expect(await codeOf(checkDisbursement(body, world.checks))).toBe(code);
    }
    expect(world.platform.lookups).toBe(0);
  });

  it('names the recipient at which the batch total reaches 2^128', async () => {
    const world = await createWorld();
    const half = (2n ** 127n).toString();
    const request = world.createRequest();
    const recipients = request.recipients.map((recipient, index) => ({
      ...recipient,
      amount: index === 0 ? '1' : half,
    }));
    const { issues } = await collectIssues({ ...request, recipients }, world.checks);
    expect(issues).toEqual([
      {
        requestIndex: 2,
        code: 'invalid-amount',
        message: expect.stringContaining('recipients[2]'),
      },
    ]);
  });

  it('reports an address with an unpaired surrogate next to a valid recipient', async () => {
    const world = await createWorld();
    const recipients = [{ ...entry, recipientAddress: 'x\ud800' }, entry];
    const { issues } = await collectIssues({ token: 'USDC', recipients }, world.checks);
    expect(issues.map(({ requestIndex, code }) => [requestIndex, code])).toEqual([
      [0, 'invalid-address'],
    ]);
  });

  it('repeats nothing of the request in an error', async () => {
    const world = await createWorld();
    const secret = 'canary-7f3a';
    const bodies = [
      { token: secret, recipients: [entry] },
      { token: 'USDC', chain: secret, recipients: [entry] },
      { token: 'USDC', recipients: [{ recipientAddress: secret, amount: secret }] },
      { token: 'USDC', recipients: [{ ...entry, [secret]: 1 }] },
      { [secret]: 1 },
    ];
    for (const body of bodies) {
      const { issues } = await collectIssues(body, world.checks);
      expect(issues.length).toBeGreaterThan(0);
      expect(JSON.stringify(issues)).not.toContain(secret);
    }
  });
});

describe('collectIssues', () => {
  it('lists every issue of every recipient', async () => {
    const world = await createWorld();
    const { issues, checked } = await collectIssues(
      {
        token: 'DOGE',
        recipients: [
          { recipientAddress: 'me', amount: '0' },
          { recipientAddress: stranger, amount: '1' },
          { recipientAddress: stranger, amount: 'x' },
        ],
      },
      world.checks,
    );
    expect(checked).toBeUndefined();
    expect(issues.map(({ requestIndex, code }) => [requestIndex, code])).toEqual([
      [-1, 'invalid-token'],
      [0, 'invalid-amount'],
      [0, 'invalid-address'],
      [2, 'invalid-amount'],
      [2, 'duplicate-recipient'],
      [1, 'unregistered-recipient'],
    ]);
  });
});

describe('registration', () => {
  async function check(
    changes: Parameters<Awaited<ReturnType<typeof createWorld>>['platform']['enroll']>[1],
  ) {
    const world = await createWorld();
    world.platform.enroll(world.holders[1]!, changes);
    return collectIssues(world.createRequest(), world.checks);
  }
  const other = createFakeHolder(50);
  const holder = createFakeHolder(2);

  const lies: [string, Parameters<typeof check>[0]][] = [
    ['another W', { walletPub: other.walletPub }],
    ['another P', { encryptionPublicKey: other.encryptionPublicKey }],
    [
      "another person's W, P and evidence",
      {
        walletPub: other.walletPub,
        encryptionPublicKey: other.encryptionPublicKey,
        evidence: { ...other.evidence },
      },
    ],
    [
      'a broken signature',
      { evidence: { ...holder.evidence, signature: other.evidence.signature } },
    ],
    [
      'an altered text',
      {
        evidence: { ...holder.evidence, message: holder.evidence.message.replace('Pool', 'Poll') },
      },
    ],
    [
      'a sign-in to another site',
      { evidence: { ...createFakeHolder(2, { domain: 'evil.test' }).evidence } },
    ],
    [
      'evidence from the future',
      {
        evidence: { ...createFakeHolder(2, { issuedAtMs: Date.UTC(2026, 10, 21, 9, 6) }).evidence },
      },
    ],
    [
      'a P that is not a curve point',
      {
        encryptionPublicKey: parseEncryptionPublicKey(`0x${'ff'.repeat(32)}`),
        evidence: {
          ...signFakeEvidence(holder.wallet, {
            encryptionPublicKey: parseEncryptionPublicKey(`0x${'ff'.repeat(32)}`),
          }),
        },
      },
    ],
    ['a wallet the gate has not confirmed', { readiness: 'eligibility_pending' }],
    ['a wallet on a deployment without gate', { readiness: 'eligibility_disabled' }],
  ];
  it.each(lies)('refuses %s [service.recipients-are-listed]', async (_what, changes) => {
    const { issues } = await check(changes);
    expect(issues.map(({ requestIndex, code }) => [requestIndex, code])).toEqual([
      [1, 'unregistered-recipient'],
    ]);
  });

  it('accepts evidence up to five minutes ahead of its clock', async () => {
    const { evidence } = createFakeHolder(2, { issuedAtMs: Date.UTC(2026, 10, 21, 9, 5) });
    expect((await check({ evidence: { ...evidence } })).issues).toEqual([]);
  });

  it('refuses older evidence that names another P, and accepts older evidence of the same P', async () => {
    const world = await createWorld();
    const [first] = world.holders;
    const request = {
      token: 'USDC',
      recipients: [{ recipientAddress: first!.address, amount: '1' }],
    };
    const later = Date.UTC(2026, 10, 10);
    const rotated = createFakeHolder(60).encryptionPublicKey;
    const rotation = signFakeEvidence(first!.wallet, {
      encryptionPublicKey: rotated,
      issuedAtMs: later,
    });
    const codes = async () =>
      (await collectIssues(request, world.checks)).issues.map(({ code }) => code);

    world.platform.enroll(first!, { encryptionPublicKey: rotated, evidence: { ...rotation } });
    expect(await codes()).toEqual([]);
    world.platform.enroll(first!);
    expect(await codes()).toEqual(['unregistered-recipient']);
    const older = signFakeEvidence(first!.wallet, {
      encryptionPublicKey: rotated,
      issuedAtMs: later - 1,
    });
    world.platform.enroll(first!, { encryptionPublicKey: rotated, evidence: { ...older } });
    expect(await codes()).toEqual([]);
  });

  it('skips unregistered recipients on request, with a reason, but never all recipients [request.unregistered-skip]', async () => {
    const world = await createWorld();
    const request = world.createRequest({ unregistered: 'skip' });
    const recipients = [{ recipientAddress: stranger, amount: '5' }, ...request.recipients];
    const checked = await checkDisbursement({ ...request, recipients }, world.checks);
    expect(checked.skipped).toEqual([
      {
        requestIndex: 0,
        recipientAddress: stranger,
        code: 'unregistered-recipient',
        message: expect.stringContaining('recipients[0]'),
      },
    ]);
    expect(checked.recipients.map(({ requestIndex }) => requestIndex)).toEqual([1, 2, 3]);
    expect(checked.total).toBe(6_000n);
    expect(
      await codeOf(
        checkDisbursement({ ...request, recipients: recipients.slice(0, 1) }, world.checks),
      ),
    ).toBe('unregistered-recipient');
  });

  it('finds no recipient fundable in a deployment without a gate, and asks no service', async () => {
    const world = await createWorld();
    const checks = { ...world.checks, hasGate: false };
    expect(await codeOf(checkDisbursement(world.createRequest(), checks))).toBe(
      'unregistered-recipient',
    );
    expect(world.platform.lookups).toBe(0);
  });

  it('answers 503 while the platform does not answer', async () => {
    const world = await createWorld();
    world.platform.failCalls(1);
    await expect(checkDisbursement(world.createRequest(), world.checks)).rejects.toMatchObject({
      code: 'platform_unreachable',
      status: 503,
      retryable: true,
    });
  });

  it.each([
    ['edge_token_refused', new PoolError('unauthorized', 'm')],
    ['platform_invalid_response', new PoolError('invalid_request', 'm')],
    ['platform_invalid_response', new PoolError('platform_invalid_response', 'm')],
  ])('reports %s if the platform answers incorrectly', async (code, error) => {
    const world = await createWorld();
    const platform = { lookupRecipients: () => Promise.reject(error) };
    await expect(
      checkDisbursement(world.createRequest(), { ...world.checks, platform }),
    ).rejects.toMatchObject({ code, status: 503 });
  });
});
