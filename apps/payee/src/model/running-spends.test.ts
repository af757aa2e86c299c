import type { SpendReceipt } from '@pool/core';
import type { EarlierPayment } from '@pool/wallet/browser';
import { describe, expect, it } from 'vitest';
import type { PayeeWallet } from '../wallet-port.ts';
import { countSpends, createIdle, payKnown } from './running-spends.ts';

const receipt: SpendReceipt = {
  operation: 'send',
  status: 'success',
  nullifiers: [],
  changeAmount: '0',
};

describe('payKnown', () => {
  const earlier: EarlierPayment = { state: 'settled', atMs: 1 };

  async function pay(found: EarlierPayment | undefined, known: EarlierPayment | undefined) {
    const paid: string[] = [];
    const outcome = await payKnown({ key: 'one', earlier: found }, known, async (key) => {
      paid.push(key);
      return receipt;
    });
    return { outcome, paid };
  }

  it('pays under the key if there is no equal payment, or the one that was shown', async () => {
    const done = { outcome: { receipt }, paid: ['one'] };
    expect(await pay(undefined, undefined)).toEqual(done);
    expect(await pay(earlier, { ...earlier })).toEqual(done);
  });

  it.each<EarlierPayment | undefined>([
    undefined,
    { state: 'settled', atMs: 2 },
    { state: 'underway', atMs: 1 },
  ])(
    'sends nothing if it would be beside an equal payment that was not shown: %j',
    async (known) => {
      expect(await pay(earlier, known)).toEqual({ outcome: { earlier }, paid: [] });
    },
  );
});

describe('an open account', () => {
  const minutes = 60_000;

  /** @returns an account that is locked after five idle minutes, and its spends, which wait to be ended */
  function open() {
    const spends: PromiseWithResolvers<never>[] = [];
    const wait = () => {
      const spend = Promise.withResolvers<never>();
      spends.push(spend);
      return spend.promise;
    };
    const fake = { withdraw: wait, transfers: { transfer: wait } } as unknown as PayeeWallet;
    const { wallet, isSpending } = countSpends(fake);
    const clock = { nowMs: 0 };
    const idle = createIdle(5 * minutes, isSpending, () => clock.nowMs);
    return { wallet, spends, clock, idle };
  }

  it('is idle when nobody has touched it for the time, and stays so', () => {
    const { clock, idle } = open();
    clock.nowMs = 4 * minutes;
    idle.use();
    clock.nowMs = 9 * minutes - 1;
    expect(idle.isIdle()).toBe(false);
    clock.nowMs += 1;
    idle.use();
    expect(idle.isIdle()).toBe(true);
  });

  it('is not idle while a withdrawal or a transfer runs, and is so the time after the last one has ended', async () => {
    const { wallet, spends, clock, idle } = open();
    const [withdrawn, paid] = [
      wallet.withdraw({} as never, () => undefined),
      wallet.transfers.transfer({} as never, () => undefined),
    ];
    clock.nowMs = 15 * minutes;
    expect(idle.isIdle()).toBe(false);
    spends[0]?.reject(new Error('refused'));
    await expect(withdrawn).rejects.toThrow('refused');
    clock.nowMs = 30 * minutes;
    expect(idle.isIdle()).toBe(false);
    spends[1]?.resolve({ receipt } as never);
    expect(await paid).toEqual({ receipt });
    clock.nowMs = 35 * minutes - 1;
    expect(idle.isIdle()).toBe(false);
    clock.nowMs += 1;
    expect(idle.isIdle()).toBe(true);
  });
});
