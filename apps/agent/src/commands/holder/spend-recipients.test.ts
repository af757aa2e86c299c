import { describe, expect, it } from 'vitest';
import { refuseAddress, resolveRecipients } from './spend-recipients.ts';

const w = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;
const w2 = `0x02${'c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5'}`;
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe('the payees of a transfer', () => {
  it('are one W with --amount [command.transfer, command.amounts]', () => {
    expect(resolveRecipients([w], '5')).toEqual([
      { walletPub: w, amount: { option: '--amount', text: '5' } },
    ]);
  });

  it('are several, and an amount of a payee’s own has precedence over --amount [command.transfer-fan-out]', () => {
    expect(resolveRecipients([`${w}:7`, w2], '5')).toEqual([
      { walletPub: w, amount: { option: '--to number 1', text: '7' } },
      { walletPub: w2, amount: { option: '--amount', text: '5' } },
    ]);
    expect(resolveRecipients([`${w}:7`, `${w2}:9`], undefined)).toHaveLength(2);
  });

  it.each([
    ['an address', address],
    ['an address with an amount', `${address}:5`],
    ['a lower-case address', address.toLowerCase()],
  ])('are refused for %s, and the message says what to give [command.w-is-no-address]', (_, to) => {
    const refuse = () => resolveRecipients([w, to], '5');
    expect(refuse).toThrow(/^--to number 2 is an address/);
    expect(refuse).toThrow(/disburse-agent identity/);
    expect(refuse).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each([
    ['nothing', ''],
    ['a W of another length', w.slice(0, -2)],
    ['a W that is not on the curve', `0x02${'ff'.repeat(32)}`],
    ['an upper-case W', w.toUpperCase()],
  ])('are refused for %s', (_, to) => {
    expect(() => resolveRecipients([to], '5')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringContaining('--to must be W'),
      }),
    );
  });

  it('are refused without an amount', () => {
    expect(() => resolveRecipients([w], undefined)).toThrow(
      expect.objectContaining({ code: 'invalid-amount' }),
    );
  });
});

describe('the destination of a withdrawal', () => {
  it('is a label, or the own wallet', () => {
    refuseAddress('bank', new Map());
    refuseAddress(undefined, new Map());
  });

  it('is never an address, not even a pinned one [command.send-label]', () => {
    const pinned = new Map([
      ['vault', address],
      ['bank', w],
    ]);
    expect(() => refuseAddress(address, pinned)).toThrow(
      expect.objectContaining({
        code: 'unpinned_destination',
        message: expect.stringContaining('bank, vault'),
      }),
    );
    expect(() => refuseAddress(address, new Map())).toThrow(/none is configured/);
  });
});
