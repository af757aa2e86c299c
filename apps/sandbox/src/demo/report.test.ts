import { readFile } from 'node:fs/promises';
import { parseEvmAddress } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { type DemoReport, formatUnits, printDemoReport } from './report.ts';

const address = parseEvmAddress('0x8EF31ED37e5320931Bf85677De447824a66c9991');
const note = { commitment: '0x1', amount: 5_000_000n, memo: 'May', txHash: '0x2' };
const good: DemoReport = {
  stages: [{ stage: 'proving', seconds: 7.25 }],
  prover: { kind: 'cpu', detail: 'two threads' },
  gasUsed: 400_001n,
  token: 'USDC',
  decimals: 6,
  total: 5_000_000n,
  poolBalance: 5_000_000n,
  received: [{ line: { address, amount: 5_000_000n, memo: 'May' }, notes: [note] }],
};

function print(report: DemoReport): { right: boolean; text: string } {
  const lines: string[] = [];
  const right = printDemoReport(report, (line) => lines.push(line));
  return { right, text: lines.join('\n') };
}

describe('the demo report', () => {
  it('shows stages, gas, notes and the balance, and succeeds when all agree', () => {
    const { right, text } = print(good);
    expect(right).toBe(true);
    expect(text).toMatch(/proving +7\.3/);
    expect(text).toContain('proved on the cpu (two threads)');
    expect(text).toContain('400,001');
    expect(text).toMatch(/✓ 0x8EF3.* 5 USDC {2}“May”/);
    expect(text).toContain('✓ The pool holds 5 USDC');
  });

  it('compares with the public batch transfer that the contracts package measured', async () => {
    const file = new URL('../../../../packages/contracts/gas.snapshot', import.meta.url);
    const snapshot = await readFile(file, 'utf8');
    const { text } = print(good);
    for (const kind of ['new', 'existing']) {
      const gas = new RegExp(`^public-transfer-${kind}-100: (\\d+)$`, 'm').exec(snapshot)?.[1];
      const share = Math.round(Number(gas) / 100);
      expect(text).toContain(`${share.toLocaleString('en-US')} for each ${kind}`);
    }
  });

  it.each<[string, Partial<DemoReport>]>([
    ['a balance below the total', { poolBalance: 4_999_999n }],
    ['a balance above the total', { poolBalance: 5_000_001n }],
    ['no note', { received: [{ ...good.received[0]!, notes: [] }] }],
    ['another amount', { received: [{ ...good.received[0]!, notes: [{ ...note, amount: 1n }] }] }],
    ['another memo', { received: [{ ...good.received[0]!, notes: [{ ...note, memo: 'Jun' }] }] }],
    ['two notes', { received: [{ ...good.received[0]!, notes: [note, note] }] }],
  ])('fails with %s', (_, change) => {
    const { right, text } = print({ ...good, ...change });
    expect(right).toBe(false);
    expect(text).toContain('✗');
  });

  it('keeps control characters of a memo off the terminal', () => {
    const line = { address, amount: 5_000_000n, memo: 'a\u001b[2Jb' };
    const received = [{ line, notes: [{ ...note, memo: line.memo }] }];
    expect(print({ ...good, received }).text).not.toContain('\u001b');
  });
});

it.each([
  [0n, 6, '0'],
  [1n, 6, '0.000001'],
  [4_250_000_000n, 6, '4,250'],
  [3_699_999_999n, 6, '3,699.999999'],
  [1_234_567n, 0, '1,234,567'],
])('formats %s units of %s decimals as %s', (amount, decimals, text) => {
  expect(formatUnits(amount, decimals)).toBe(text);
});
