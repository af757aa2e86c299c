/** How nodes answer `eth_sendRawTransaction`: error texts of several implementations. */
import { describe, expect, it } from 'vitest';
import { isOutOfGas, readBroadcastAnswer } from './node-answer.ts';

/** An error as ethers throws it: its own message repeats the request. */
function answered(message: string): Error {
  return Object.assign(new Error(`could not coalesce error (payload={ "nonce too low" })`), {
    error: { code: -32000, message },
  });
}

describe('readBroadcastAnswer', () => {
  it.each([
    'exceeds block gas limit',
    'transaction gas limit too high (cap: 16777216, tx: 30000000)',
    'Transaction gas limit exceeds block gas limit',
    'EXCEEDS_BLOCK_GAS_LIMIT',
    "gas limit 40000000 exceeds the block's gas limit of 30000000",
    'TxGasLimitExceeded',
    'GasLimitExceeded, Gas limit: 40000000, gas limit of rejected tx: 60000000',
    'intrinsic gas too low: gas 20000, minimum needed 21000',
    'intrinsic gas too high',
    'insufficient gas for floor data gas cost: gas 30000, minimum needed 40000',
    'transaction type not supported',
    'invalid transaction type',
    'oversized data: transaction size 140000, limit 131072',
    'invalid sender',
    'invalid chain id for signer: have 1 want 2',
    'max priority fee per gas higher than max fee per gas',
    'tx fee (2.00 ether) exceeds the configured cap (1.00 ether)',
  ])('reads "%s" as a final refusal', (message) => {
    expect(readBroadcastAnswer(answered(message))).toBe('refused-for-good');
  });

  it.each(['already known', 'nonce too low: next nonce 7, tx nonce 6', 'OldNonce'])(
    'reads "%s" as a transaction that the node already has',
    (message) => {
      expect(readBroadcastAnswer(answered(message))).toBe('already-there');
    },
  );

  it.each([
    'transaction underpriced: gas tip cap 1, minimum needed 2',
    'replacement transaction underpriced',
    'insufficient funds for gas * price + value',
    'txpool is full',
    'max fee per gas less than block base fee',
    'request limit reached',
    'header not found',
    '',
  ])('tries again after "%s"', (message) => {
    expect(readBroadcastAnswer(answered(message))).toBe('unknown');
  });

  it('tries again after no answer', () => {
    expect(readBroadcastAnswer(new Error('request timeout'))).toBe('unknown');
    expect(readBroadcastAnswer(undefined)).toBe('unknown');
  });
});

describe('isOutOfGas', () => {
  it('matches a lack of gas, not a lack of allowance', () => {
    expect(isOutOfGas(answered('gas required exceeds allowance (1964270)'))).toBe(true);
    expect(isOutOfGas(answered('out of gas'))).toBe(true);
    expect(isOutOfGas(answered('intrinsic gas too low'))).toBe(true);
    const reverted = 'execution reverted: ERC20: transfer amount exceeds allowance';
    expect(isOutOfGas(answered(reverted))).toBe(false);
  });
});
