import { describe, expect, it } from 'vitest';
import { type HolderReport, printHolderReport } from './holder-report.ts';

const hash = `0x${'ab'.repeat(32)}`;
const good: HolderReport = {
  token: 'USDC',
  decimals: 6,
  chain: 'anvil',
  holder: '0x8EF31ED37e5320931Bf85677De447824a66c9991',
  received: 1_000n,
  before: '1000 USDC (1 note(s), largest 1000) on anvil',
  after: '200 USDC (1 note(s), largest 200) on anvil',
  transfer: {
    command: ['transfer', '--to', `0x02${'cd'.repeat(32)}:100`],
    receipt: { operation: 'transfer', status: 'success', nullifiers: [], changeAmount: '700' },
    seconds: 6.25,
    gasUsed: 452_609n,
  },
  payees: [
    { address: '0xA', amount: 100n, opened: [100n] },
    { address: '0xB', amount: 200n, opened: [200n] },
  ],
  send: {
    command: ['send', '--to', 'savings', '--amount', '500'],
    receipt: {
      operation: 'send',
      status: 'success',
      txHash: hash as never,
      nullifiers: [],
      changeAmount: '200',
    },
    seconds: 5,
    gasUsed: 480_000n,
  },
  destination: { label: 'savings', address: '0xC', amount: 500n, arrived: 500n },
  poolBalance: 9_500n,
};

function print(report: HolderReport): { right: boolean; text: string } {
  const lines: string[] = [];
  const right = printHolderReport(report, 10_000n, (line) => lines.push(line));
  return { right, text: lines.join('\n') };
}

describe('the report of a recipient that spends', () => {
  it('shows each command with amounts in units of the token, and succeeds when all agree', () => {
    const { right, text } = print(good);
    expect(right).toBe(true);
    expect(text).toContain('$ disburse-agent balance\n  ✓ 1000 USDC (1 note(s), largest 1000)');
    expect(text).toContain('$ disburse-agent transfer --to 0x02cdcd…cdcd:100');
    expect(text).toMatch(/✓ +0\.0001 USDC {2}opened with the key of 0xA/);
    expect(text).toMatch(/✓ +0\.0007 USDC {2}change {2}\(6\.3 s, 452,609 gas\)/);
    expect(text).toMatch(/✓ +0\.0005 USDC {2}on chain at 0xC/);
    expect(text).toContain('✓ The pool holds 0.0095 USDC');
  });

  it.each<[string, Partial<HolderReport>]>([
    ['another balance before', { before: '999 USDC (1 note(s), largest 999) on anvil' }],
    ['another balance afterwards', { after: '200 USDC (2 note(s), largest 100) on anvil' }],
    ['a payee without its note', { payees: [{ ...good.payees[0]!, opened: [] }, good.payees[1]!] }],
    ['a payee paid twice', { payees: [{ ...good.payees[0]!, opened: [100n, 100n] }] }],
    ['a withdrawal that did not arrive', { destination: { ...good.destination, arrived: 499n } }],
    [
      'another change',
      {
        transfer: {
          ...good.transfer,
          receipt: { ...good.transfer.receipt, changeAmount: '699' },
        },
      },
    ],
    [
      'a transfer that reverted',
      { transfer: { ...good.transfer, receipt: { ...good.transfer.receipt, status: 'reverted' } } },
    ],
    ['a base unit too many in the pool', { poolBalance: 9_501n }],
  ])('fails with %s', (_, change) => {
    const { right, text } = print({ ...good, ...change });
    expect(right).toBe(false);
    expect(text).toContain('✗');
  });
});
