// The warning of a release policy concerns the amounts of all parts together, so it is asked about the sum, once.
import { parseAmount } from '@pool/core';
import { expect, it } from 'vitest';
import { checkParts, createRequest } from './check-parts.ts';

const place = { chain: 'anvil', token: 'USDC' };
const parts = [1, 2].map((part) => {
  const recipientAddress = `0x${String(part).repeat(40)}`;
  const entries = [{ line: part + 1, recipientAddress, amount: parseAmount('4').toString() }];
  return { part, entries, request: createRequest(place, entries, undefined) };
});

it('warns of a release once, for the sum of the parts', async () => {
  const { warnings } = await checkParts(parts, async ({ recipients }) => {
    const [{ amount } = { amount: '' }] = recipients;
    const warning = { code: 'release_required', message: amount, severity: 'warning' };
    return { ok: true, issues: [], preflight: [warning] };
  });
  expect(warnings).toEqual([{ code: 'release_required', message: '8' }]);
});
