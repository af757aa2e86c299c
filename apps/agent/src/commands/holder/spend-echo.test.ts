// What a person reads before and after a spend.
import type { SpendReceipt } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { confirmSpend, describeReceipt, describeSpend } from './spend-echo.ts';

const w = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;

describe('the question before a spend', () => {
  const place = { chain: 'base', decimals: 6, destinations: new Map([['bank', '0x70']]) };

  it('shows payees, amounts and total in token units', () => {
    const body = { token: 'USDC', recipients: [{ walletPub: w, amount: '1500000' }] };
    expect(describeSpend({ operation: 'transfer', body }, place)).toEqual([
      'transfer on base: 1.5 USDC in total to 1 payee(s)',
      `  1.5 USDC to ${w}`,
    ]);
  });

  it('shows the destination of a withdrawal, and that the chain shows it', () => {
    const describe = (to?: string) =>
      describeSpend(
        {
          operation: 'send',
          body: { token: 'USDC', amount: '5', ...(to === undefined ? {} : { to }) },
        },
        { ...place, decimals: undefined },
      ).join('\n');
    expect(describe('bank')).toMatch(/^send on base: 5 base units of USDC to bank \(0x70\)\n/);
    expect(describe()).toMatch(/to the holder's own wallet\n.*the chain shows/);
  });

  it('is followed by the receipt in tokens', () => {
    const receipt = (status: SpendReceipt['status']): SpendReceipt => ({
      ...{ operation: 'transfer', status, nullifiers: [], changeAmount: '12000000' },
    });
    const body = { token: 'USDC', recipients: [{ walletPub: w, amount: '1500000' }] };
    const read = (status: SpendReceipt['status']) =>
      describeReceipt(
        receipt(status),
        { operation: 'transfer', body },
        { ...place, labels: new Map([[w, 'ben']]) },
      );
    expect(read('success')).toEqual(['paid; change: 12 USDC', `  1.5 USDC to @ben (${w})`]);
    expect(read('reverted')).toEqual(['nothing was paid: the transaction reverted']);
    expect(read('dry-run')).toEqual(['dry run: nothing was sent; change: 12 USDC']);
  });

  it('is declined by anything but yes', async () => {
    const spend = { operation: 'send', body: { token: 'USDC', amount: '5' } } as const;
    const confirm = async (answer: string | undefined) => {
      const shown: string[] = [];
      const terminal = { isTty: true, write: (text: string) => void shown.push(text) };
      await confirmSpend(spend, place, { ask: async () => answer, terminal });
      return shown.join('');
    };
    expect(await confirm('y')).toContain('0.000005 USDC');
    for (const answer of ['', 'n', 'yess', undefined]) {
      await expect(confirm(answer)).rejects.toMatchObject({ code: 'payment_declined' });
    }
  });
});
