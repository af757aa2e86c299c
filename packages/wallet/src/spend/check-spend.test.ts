// The checks of a spend in their order, each with its code (docs/decisions/0011).
import { type EvmAddress, maxAmount } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { checkSpend, parseSpendBody } from './check-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

const world = createSpendWorld();
const [alice, bob] = world.payees;

function check(
  operation: 'transfer' | 'send',
  body: unknown,
  changes: Partial<SpendDeps> = {},
  subject = world,
) {
  const { deps } = subject.boot(changes);
  return (async () => checkSpend(parseSpendBody(operation, body), deps))();
}

function pay(...recipients: { walletPub: string; amount: string }[]) {
  return { token: 'USDC', recipients };
}

const one = { walletPub: alice.walletPub, amount: '5' };
const unknownWallet = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;

describe('a transfer', () => {
  it('that passes names payees, keys and evidence [transfer.body]', async () => {
    const checked = await check('transfer', pay(one, { walletPub: bob.walletPub, amount: '7' }));
    expect(checked).toMatchObject({ operation: 'transfer', total: 12n, withdrawAmount: 0n });
    expect(checked.outputs).toEqual([
      {
        walletPub: alice.walletPub,
        encryptionPublicKey: alice.encryptionPublicKey,
        evidence: alice.evidence,
        amount: '5',
      },
      expect.objectContaining({ walletPub: bob.walletPub, amount: '7' }),
    ]);
  });

  const eight = Array.from({ length: 8 }, () => one);
  const rows: [string, unknown, string, number][] = [
    ['no object', 'pay alice', 'invalid_request', 400],
    ['an unknown field', { ...pay(one), chain: 'anvil' }, 'invalid_request', 400],
    ['no payee', pay(), 'invalid_request', 400],
    ['an unknown token', { ...pay(one), token: 'DOGE' }, 'unknown_token', 400],
    ['a token of Object.prototype', { ...pay(one), token: 'toString' }, 'unknown_token', 400],
    [
      'a token address',
      { ...pay(one), token: world.context.settings.tokens['USDC']?.address },
      'unknown_token',
      400,
    ],
    ['eight payees', pay(...eight), 'too_many_recipients', 400],
    ['amount 0', pay({ ...one, amount: '0' }), 'invalid-amount', 400],
    ['a decimal amount', pay({ ...one, amount: '1.5' }), 'invalid-amount', 400],
    [
      'a sum of 2^128',
      pay({ ...one, amount: maxAmount.toString() }, { walletPub: bob.walletPub, amount: '1' }),
      'invalid-amount',
      400,
    ],
    ['an address as payee', pay({ ...one, walletPub: alice.address }), 'invalid_request', 400],
    ['the same wallet twice', pay(one, one), 'duplicate-recipient', 400],
    [
      'the holder itself as payee',
      pay({ ...one, walletPub: world.holder.walletPub }),
      'duplicate-recipient',
      400,
    ],
    [
      'a wallet that never enrolled',
      pay({ ...one, walletPub: unknownWallet }),
      'unregistered-recipient',
      400,
    ],
  ];
  it.each(rows)(
    'with %s is refused [transfer.listed-only, transfer.body, spend-error.unknown-token]',
    async (_, body, code, status) => {
      await expect(check('transfer', body)).rejects.toMatchObject({ code, status });
    },
  );

  it('answers the first problem: token before amount, amount before registration', async () => {
    const bad = { walletPub: unknownWallet, amount: '0' };
    await expect(check('transfer', { token: 'X', recipients: [bad] })).rejects.toMatchObject({
      code: 'unknown_token',
    });
    await expect(check('transfer', pay(bad))).rejects.toMatchObject({
      code: 'invalid-amount',
      message: expect.stringContaining('recipients[0]'),
    });
  });

  it('above the ceiling by its sum is refused, before anybody is looked up [spend-error.ceiling]', async () => {
    const own = createSpendWorld();
    const changes = { ceilings: { transfer: 11n, send: undefined } };
    const body = pay(one, { walletPub: bob.walletPub, amount: '7' });
    await expect(check('transfer', body, changes, own)).rejects.toMatchObject({
      code: 'ceiling_exceeded',
      status: 403,
      message:
        'the call spends 0.000012 USDC (12 base units), more than DISBURSE_TRANSFER_MAX_AMOUNT allows, 0.000011 USDC (11 base units); raise it, or split the spend',
    });
    expect(own.directory.lookups).toBe(0);
    await expect(
      check('transfer', body, { ceilings: { transfer: 12n, send: 1n } }, own),
    ).resolves.toMatchObject({ total: 12n });
  });

  it.each([
    ['not ready', { readiness: 'eligibility_pending' as const }],
    ['served with the wallet of somebody else', { walletPub: bob.walletPub }],
    [
      'served with an encryption key that it did not sign for',
      {
        encryptionPublicKey: bob.encryptionPublicKey,
      },
    ],
    ['served with the evidence of somebody else', { evidence: { ...bob.evidence } }],
  ])('to a wallet that is %s is refused [transfer.listed-only]', async (_, changes) => {
    const own = createSpendWorld();
    own.directory.enroll(own.payees[0], changes);
    await expect(check('transfer', pay(one), {}, own)).rejects.toMatchObject({
      code: 'unregistered-recipient',
    });
  });

  it('to a wallet of the platform’s choice is refused, even with valid evidence of that wallet', async () => {
    const own = createSpendWorld();
    own.directory.enroll({ ...own.payees[0], ...pickKeys(own.payees[1]) });
    await expect(check('transfer', pay(one), {}, own)).rejects.toMatchObject({
      code: 'unregistered-recipient',
    });
  });

  it('in a deployment without a gate is refused', async () => {
    await expect(check('transfer', pay(one), { hasGate: false })).rejects.toMatchObject({
      code: 'unregistered-recipient',
    });
  });

  it('waits for a platform that does not answer with a retryable error', async () => {
    const own = createSpendWorld();
    own.directory.failCalls(1);
    await expect(check('transfer', pay(one), {}, own)).rejects.toMatchObject({
      status: 503,
      retryable: true,
    });
  });
});

describe('a send', () => {
  const body = { token: 'USDC', amount: '9' };

  it.each([
    ['an unknown label', 'nowhere'],
    ['an address, even a pinned one', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    ['an empty label', ''],
  ])(
    'to %s is refused, and the labels are listed [send.label-only, spend-error.unpinned-destination]',
    async (_, to) => {
      const destinations = new Map([...world.boot().deps.destinations, ['bank', alice.address]]);
      await expect(check('send', { ...body, to }, { destinations })).rejects.toMatchObject({
        code: 'unpinned_destination',
        status: 400,
        message: expect.stringContaining('bank, vault'),
      });
    },
  );

  it('to a label is refused if none is configured [command.send-own-wallet]', async () => {
    await expect(
      check('send', { ...body, to: 'vault' }, { destinations: new Map() }),
    ).rejects.toMatchObject({
      code: 'unpinned_destination',
      message: expect.stringContaining('none is configured'),
    });
  });

  it('to the pool or the token contract is refused', async () => {
    const { pool, tokens } = world.context.settings;
    const destinations = new Map<string, EvmAddress>([['pool', pool]]);
    destinations.set('token', tokens['USDC']?.address ?? pool);
    for (const to of destinations.keys()) {
      await expect(check('send', { ...body, to }, { destinations })).rejects.toMatchObject({
        code: 'unpinned_destination',
      });
    }
  });

  it.each(['0', '-1', '01', '1e3', String(maxAmount + 1n)])('of %s is refused', async (amount) => {
    await expect(check('send', { ...body, amount })).rejects.toMatchObject({
      code: 'invalid-amount',
    });
  });

  it('has a ceiling of its own [spend-error.ceiling]', async () => {
    const ceilings = { transfer: 1n, send: 8n };
    await expect(check('send', body, { ceilings })).rejects.toMatchObject({
      code: 'ceiling_exceeded',
      message: expect.stringContaining('DISBURSE_SEND_MAX_AMOUNT'),
    });
  });

  it('takes no list of recipients [send.one-destination, limit.one-destination]', async () => {
    await expect(check('send', { ...body, recipients: [one] })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

function pickKeys({ walletPub, encryptionPublicKey, evidence }: typeof alice) {
  return { walletPub, encryptionPublicKey, evidence };
}
