import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { erc1271Gas } from './calls/shielded-pool.ts';

it('equals the gas that the contract gives a contract wallet', () => {
  const source = new URL('../solidity/lib/FunderSignature.sol', import.meta.url);
  const [, amount] = /ERC1271_GAS = ([0-9_]+);/.exec(readFileSync(source, 'utf8')) ?? [];
  expect(erc1271Gas).toBe(BigInt(amount?.replaceAll('_', '') ?? 0));
});
