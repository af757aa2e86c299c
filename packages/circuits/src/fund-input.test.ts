import { eligibilityDepth } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createBatch, R, toInput } from '../test/fund-batch.ts';
import { parseFundCircuitInput } from './fund-input.ts';

const input = toInput(createBatch(2));
function refused(signal: string) {
  return expect.objectContaining({
    code: 'invalid_circuit_input',
    message: expect.stringContaining(signal),
  });
}

describe('the input of a fund circuit', () => {
  it('is read from BigInts and from decimal strings', () => {
    const text = JSON.parse(
      JSON.stringify(input, (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      ),
    );
    expect(parseFundCircuitInput(text, 2)).toEqual(parseFundCircuitInput(input, 2));
    expect(parseFundCircuitInput(input, 2)).toEqual(input);
  });

  it.each(['D', 'z', 'y', 'assetId', 'batchId', 'secret', 'eligibilityRoot'] as const)(
    'refuses an aliased %s (value + r)',
    (signal) => {
      const aliased = { ...input, [signal]: input[signal] + R };
      expect(() => parseFundCircuitInput(aliased, 2)).toThrow(refused(signal));
    },
  );

  it.each(['walletIds', 'px', 'py'] as const)('refuses an aliased element of %s', (signal) => {
    const aliased = { ...input, [signal]: input[signal].with(1, R) };
    expect(() => parseFundCircuitInput(aliased, 2)).toThrow(refused(`${signal}[1]`));
  });

  it.each([
    ['amounts[0]', { amounts: [2n ** 128n, 0n] }],
    ['total', { total: 2n ** 128n }],
    ['leafIndices[1]', { leafIndices: [0n, 4n ** BigInt(eligibilityDepth)] }],
    ['amounts', { amounts: [1n] }],
    ['siblings[0]', { siblings: [input.siblings[0]?.slice(1), input.siblings[1]] }],
    ['siblings[1][0]', { siblings: [input.siblings[0], input.siblings[1]?.with(0, [1n, 2n])] }],
    ['total', { total: '01' }],
    ['total', { total: '-1' }],
    ['total', { total: -1n }],
    ['total', { total: 5 }],
    ['secret', { secret: undefined }],
  ])('refuses %s out of range or shape', (signal, change) => {
    expect(() => parseFundCircuitInput({ ...input, ...change } as never, 2)).toThrow(
      refused(signal),
    );
  });

  it('repeats no value in an error', () => {
    try {
      parseFundCircuitInput({ ...input, secret: R + 4_711n }, 2);
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toMatch(/\d{4}/);
    }
  });
});
