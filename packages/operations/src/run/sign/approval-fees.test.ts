// Fees of a replacement. An approval may cost 0.1 of the chain's coin, so with 100,000 gas it pays at most 10^12 wei per gas.
import { expect, it } from 'vitest';
import type { ApprovalTransaction } from '../../ports.ts';
import { isOutbid, raiseFees } from './approval.ts';

function approval(maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): ApprovalTransaction {
  const fees = { gasLimit: 100_000n, maxFeePerGas, maxPriorityFeePerGas };
  return { chainId: 1, nonce: 7, value: 5n, ...fees } as ApprovalTransaction;
}

const most = 10n ** 12n;

it.each([
  ['an eighth more', [800n, 8n], [0n, 0n], [900n, 9n]],
  ['what the chain asks for now', [800n, 8n], [5_000n, 90n], [5_000n, 90n]],
  ['a tip that is not above the fee', [800n, 800n], [0n, 5_000n], [900n, 900n]],
  [
    'what an approval may cost, if the chain asks for more',
    [800n, 8n],
    [2n * most, 9n],
    [most, 9n],
  ],
  [
    'what an approval may cost, if an eighth more is just that',
    [888_888_888_888n, 8n],
    [0n, 0n],
    [most - 1n, 9n],
  ],
] as const)('a replacement pays %s', (_what, [fee, tip], [nowFee, nowTip], [maxFee, maxTip]) => {
  const now = { baseFeePerGas: 0n, maxFeePerGas: nowFee, maxPriorityFeePerGas: nowTip };
  const raised = raiseFees(approval(fee, tip), now);
  expect(raised).toEqual(approval(maxFee, maxTip));
});

it('there is none above what an approval may cost', () => {
  const now = { baseFeePerGas: 0n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  expect(raiseFees(approval(888_888_888_889n, 8n), now)).toBeUndefined();
});

it('is outbid below the base fee only', () => {
  const fees = { baseFeePerGas: 100n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  expect(isOutbid({ maxFeePerGas: 99n }, fees)).toBe(true);
  expect(isOutbid({ maxFeePerGas: 100n }, fees)).toBe(false);
});
