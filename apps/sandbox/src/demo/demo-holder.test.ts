import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, expect, it } from 'vitest';
import { deriveHolderKey } from '../chain/sandbox-keys.ts';
import { chooseDemoPeople } from './demo-holder.ts';

const directory = mkdtempSync(join(tmpdir(), 'demo-people-'));
afterAll(() => rmSync(directory, { recursive: true }));

function addressOf(index: number): string {
  return new Wallet(deriveHolderKey(index).reveal()).address;
}

function choose(...lines: readonly string[]) {
  const path = join(directory, 'roster.csv');
  writeFileSync(path, ['address,amount', ...lines].join('\n'));
  const { isEnrolled, spenderKey } = chooseDemoPeople(path);
  const enrolled = Array.from({ length: 70 }, (_, index) => index).filter((index) =>
    isEnrolled(addressOf(index)),
  );
  return { enrolled, spender: spenderKey?.reveal() };
}

it('lets the first recipient of the roster spend, and enrols the others', () => {
  const lines = [5, 2, 9].map((index) => `${addressOf(index)},10`);
  expect(choose(...lines)).toEqual({ enrolled: [2, 9], spender: deriveHolderKey(5).reveal() });
});

it('enrols two payees for a roster of one', () => {
  expect(choose(`${addressOf(0).toLowerCase()},10`)).toEqual({
    enrolled: [1, 2],
    spender: deriveHolderKey(0).reveal(),
  });
});

it('enrols nobody for a roster of strangers, or without a roster', () => {
  expect(choose('0x000000000000000000000000000000000000dEaD,10')).toEqual({ enrolled: [] });
  const { spenderKey } = chooseDemoPeople(join(directory, 'missing.csv'));
  expect(spenderKey).toBeUndefined();
});
