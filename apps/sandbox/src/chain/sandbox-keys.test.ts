import { fileURLToPath } from 'node:url';
import { computeAddress } from 'ethers';
import { expect, it } from 'vitest';
import { readRoster } from '../demo/roster.ts';
import { defaultHolderCount, deriveHolderKey } from './sandbox-keys.ts';

const holders = Array.from({ length: defaultHolderCount }, (_, index) =>
  computeAddress(deriveHolderKey(index).reveal()),
);

it('derives at least 70 different holders', () => {
  expect(new Set(holders).size).toBeGreaterThanOrEqual(70);
});

it('enrols every recipient of examples/roster.csv', () => {
  const path = fileURLToPath(new URL('../../../../examples/roster.csv', import.meta.url));
  const roster = readRoster(path);
  expect(roster.length).toBeGreaterThan(5);
  for (const { address } of roster) {
    expect(holders).toContain(address);
  }
});
